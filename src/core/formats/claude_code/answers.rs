//! The answers of a conversation and their tool calls.

use super::entry::{ClaudeAnswer, ClaudeEntry, EntryKind};
use super::tree::RecordPlace;
use crate::session::{Body, Part};
use std::collections::HashMap;

/// Iterates over the answer records of the conversation with their indices.
pub(super) fn answered<'a, 'p>(
    entries: &'a [ClaudeEntry],
    places: &'p [RecordPlace],
) -> impl Iterator<Item = (usize, &'a ClaudeAnswer)> + use<'a, 'p> {
    let all = entries.iter().zip(places).enumerate();
    all.filter_map(|(at, (entry, place))| match (&entry.kind, place) {
        (EntryKind::Answer(answer), RecordPlace::Main) => Some((at, answer)),
        _ => None,
    })
}

/// Adds the tool names to results, which only name their call.
pub(super) fn with_names_of_tools(
    mut parts: Vec<Vec<Part>>,
    entries: &[ClaudeEntry],
    places: &[RecordPlace],
) -> Vec<Vec<Part>> {
    let n_answered = answered(entries, places).count();
    let mut tools: HashMap<&str, &str> = HashMap::with_capacity(n_answered);
    for part in answered(entries, places).flat_map(|(at, _)| &parts[at]) {
        if let Body::ToolCall { call, tool, .. } = &part.body {
            tools.insert(call, tool);
        }
    }
    let name = |part: &Part| match &part.body {
        Body::ToolResult { call, .. } => tools.get(&**call).copied().map(Box::from),
        _ => None,
    };
    let is_message = |entry: &ClaudeEntry| matches!(entry.kind, EntryKind::Message(_));
    let messages = entries.iter().zip(&parts).filter(|(e, _)| is_message(e));
    let names: Vec<Option<Box<str>>> = messages.flat_map(|(_, parts)| parts).map(name).collect();
    let messages = entries.iter().zip(&mut parts).filter(|(e, _)| is_message(e));
    for (part, name) in messages.flat_map(|(_, parts)| parts).zip(names) {
        if let (Body::ToolResult { tool, .. }, Some(name)) = (&mut part.body, name) {
            *tool = name;
        }
    }
    parts
}
