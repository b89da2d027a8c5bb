//! The head of the file: it holds the system prompt and the tools, which no compaction can replace.

use super::edit::Fate;
use super::fates;
use super::past::Past;
use crate::formats::json;
use crate::formats::resume::spliced;
use crate::session::{Managed, ManagedEntry, Session, Span};
use serde_json::Value;

/// The lines that stay, their heads as the managed context has them.
pub(super) fn written(session: &Session, managed: &Managed, past: &Past<'_>) -> Vec<u8> {
    let is_head = |message: usize| {
        let span = session.messages[message].raw.first();
        span.is_some_and(|span| past.is_head(span))
    };
    let message = (0..session.messages.len()).find(|message| is_head(*message));
    let Some(message) = message else {
        return past.bytes.to_vec();
    };
    let own = &session.messages[message].raw[0];
    let entry = managed.entries.iter().find(|entry| match entry {
        ManagedEntry::Kept { message: m } | ManagedEntry::Edited { message: m, .. } => {
            *m == message
        }
        ManagedEntry::Written { .. } => false,
    });
    let edits: Vec<(Span, String)> = match entry {
        Some(ManagedEntry::Edited { parts, .. }) => {
            let fates = fates(session, message, parts);
            let fate = |block: usize| {
                let found = fates.iter().find(|(part, _)| part.block as usize == block);
                found.map_or(Fate::Gone, |(_, fate)| *fate)
            };
            edit(past, own, &fate).into_iter().collect()
        }
        Some(_) => Vec::new(),
        // Heads are repeated when a session is resumed; the next one would do.
        None => past
            .heads()
            .filter_map(|head| edit(past, head, &|_| Fate::Gone))
            .collect(),
    };
    spliced(past.bytes, &edits)
}

/// A head with its blocks kept, replaced or left out.
fn edit<'a>(
    past: &Past<'_>,
    head: &Span,
    fate: &dyn Fn(usize) -> Fate<'a>,
) -> Option<(Span, String)> {
    let mut line = json::parse_span(past.bytes, head)?;
    let payload = line.get_mut("payload")?.as_object_mut()?;
    let mut block = 0;
    let has_base = payload
        .get("base_instructions")
        .is_some_and(|base| base.is_string() || json::str_at(base, &["text"]).is_some());
    if has_base {
        match fate(block) {
            Fate::Kept => {}
            Fate::Replaced(text) => match payload.get_mut("base_instructions") {
                Some(Value::Object(base)) => {
                    base.insert("text".into(), text.into());
                }
                Some(base) => *base = text.into(),
                None => {}
            },
            Fate::Gone => {
                payload.shift_remove("base_instructions");
            }
        }
        block += 1;
    }
    if let Some(tools) = payload.get_mut("dynamic_tools")
        && !keep(tools, &mut block, fate)
    {
        payload.shift_remove("dynamic_tools");
    }
    Some((head.clone(), line.to_string()))
}

/// Leaves out tools, in the order in which they are read; whether any is left.
fn keep<'a>(tool: &mut Value, block: &mut usize, fate: &dyn Fn(usize) -> Fate<'a>) -> bool {
    if let Value::Array(tools) = tool {
        tools.retain_mut(|tool| keep(tool, block, fate));
        return !tools.is_empty();
    }
    if let Some(tools) = tool.get_mut("tools").filter(|tools| tools.is_array()) {
        return keep(tools, block, fate);
    }
    let is_deferred = ["deferLoading", "defer_loading"]
        .iter()
        .any(|key| json::is_true(tool, &[key]));
    if is_deferred {
        return true;
    }
    *block += 1;
    match fate(*block - 1) {
        Fate::Kept => true,
        Fate::Gone => false,
        Fate::Replaced(text) => match serde_json::from_str(text) {
            Ok(new) => {
                *tool = new;
                true
            }
            Err(_) => false,
        },
    }
}
