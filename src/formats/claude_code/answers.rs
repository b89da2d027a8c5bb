//! The answers of a conversation, and the tools that they called.

use super::entry::{Answer, Entry, What};
use super::tree::Place;
use crate::session::{Body, Part};
use std::collections::HashMap;

/// The lines of answers in the conversation, and where they stand.
pub(super) fn answered<'a, 'p>(
    entries: &'a [Entry],
    places: &'p [Place],
) -> impl Iterator<Item = (usize, &'a Answer)> + use<'a, 'p> {
    let all = entries.iter().zip(places).enumerate();
    all.filter_map(|(at, (entry, place))| match (&entry.what, place) {
        (What::Answered(answer), Place::Main) => Some((at, answer)),
        _ => None,
    })
}

/// Results name their tool only by the call.
pub(super) fn with_names_of_tools(
    mut parts: Vec<Vec<Part>>,
    entries: &[Entry],
    places: &[Place],
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
    let is_said = |entry: &Entry| matches!(entry.what, What::Said(_));
    let said = entries.iter().zip(&parts).filter(|(e, _)| is_said(e));
    let names: Vec<Option<Box<str>>> = said.flat_map(|(_, parts)| parts).map(name).collect();
    let said = entries.iter().zip(&mut parts).filter(|(e, _)| is_said(e));
    for (part, name) in said.flat_map(|(_, parts)| parts).zip(names) {
        if let (Body::ToolResult { tool, .. }, Some(name)) = (&mut part.body, name) {
            *tool = name;
        }
    }
    parts
}
