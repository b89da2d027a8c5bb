//! Rewrites a record some of whose parts changed: texts, and tool calls with their results.

use super::super::message;
use super::hiding_marks::as_text;
use crate::formats::editing::{
    Editing, PartChange, Patch, array_at, at_path, json_string, patched, without_elements,
    without_members,
};
use crate::formats::{editing, json};
use crate::json::Value;
use crate::session::{Body, Part, Span};

/// Returns the edited record, or `None` if nothing is left of it.
pub(super) fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    let blocks = array_at(bytes, span, &["parts"])?;
    let mut patches = Vec::new();
    let mut states = Vec::with_capacity(blocks.len());
    for (idx, block) in blocks.iter().enumerate() {
        let parts: Vec<_> =
            editing.parts.iter().filter(|(part, _)| part.block as usize == idx).copied().collect();
        states.push(if parts.is_empty() {
            BlockState::Metadata
        } else if let Some(more) = block_patches(bytes, block, &parts) {
            patches.extend(more);
            BlockState::HasContent
        } else {
            BlockState::Removed
        });
    }
    patches.extend(without_elements(&blocks, &removed_blocks(bytes, &blocks, &states)));
    Some(patched(bytes, span, patches))
}

/// State of a part of the record after the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockState {
    /// Not part of the context: start and end of a call, changes of a call to files.
    Metadata,
    /// Still has content.
    HasContent,
    /// Has no content left.
    Removed,
}

/// Marks the parts to remove. If a call loses all its content, everything from its start to its end is removed.
fn removed_blocks(bytes: &[u8], blocks: &[Span], states: &[BlockState]) -> Vec<bool> {
    let mut removed: Vec<bool> = states.iter().map(|state| *state == BlockState::Removed).collect();
    let mut start = 0;
    for at in 0..blocks.len() {
        let kind = at_path(bytes, &blocks[at], &["type"]);
        let kind = kind.and_then(|kind| json::parse_span(bytes, &kind));
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        if kind == "step-start" {
            start = at;
        }
        if kind == "step-finish" || at + 1 == blocks.len() {
            let call = &states[start..=at];
            if call.contains(&BlockState::Removed) && !call.contains(&BlockState::HasContent) {
                removed[start..=at].fill(true);
            }
            start = at + 1;
        }
    }
    removed
}

/// Returns patches for one part of the record, or `None` if it is removed.
fn block_patches(
    bytes: &[u8],
    block: &Span,
    parts: &[(&Part, PartChange<'_>)],
) -> Option<Vec<Patch>> {
    let is_call = |part: &Part| matches!(part.body, Body::ToolCall { .. });
    if parts.iter().any(|(part, _)| is_call(part)) {
        return tool_patches(bytes, block, parts);
    }
    // The same part may be listed twice: the original, and the copy in a message after pruning.
    let (part, change) = parts
        .iter()
        .map(|(part, change)| (part, change.or_removed()))
        .find(|(_, change)| *change != PartChange::Removed)?;
    let PartChange::Replaced(text) = change else {
        return Some(Vec::new());
    };
    let own = ["text", "prompt"].iter().find_map(|key| at_path(bytes, block, &[key]));
    Some(match (&part.body, own) {
        (Body::Text(_), Some(range)) => vec![(range, json_string(text))],
        // A signature is valid only for its own thought, and other parts have no place for one.
        _ => as_text(bytes, block, text),
    })
}

/// A tool result in one message. Pruning adds a second message with the result.
struct ResultChange<'a> {
    part: &'a Part,
    change: PartChange<'a>,
    /// Changes of its media.
    media: Vec<PartChange<'a>>,
}

fn results<'a>(parts: &[(&'a Part, PartChange<'a>)]) -> Vec<ResultChange<'a>> {
    let mut results: Vec<ResultChange<'a>> = Vec::new();
    for (part, change) in parts {
        match (&part.body, results.last_mut()) {
            (Body::ToolResult { .. }, _) => {
                results.push(ResultChange { part, change: *change, media: Vec::new() });
            }
            (Body::Media { .. }, Some(result)) => result.media.push(*change),
            _ => {}
        }
    }
    results
}

/// Returns patches for a call and its result, or `None` if both are removed.
fn tool_patches(
    bytes: &[u8],
    block: &Span,
    parts: &[(&Part, PartChange<'_>)],
) -> Option<Vec<Patch>> {
    let state = at_path(bytes, block, &["state"]).unwrap_or_default();
    let is_call = |part: &Part| matches!(part.body, Body::ToolCall { .. });
    let (_, call) =
        parts.iter().find(|(part, change)| is_call(part) && *change != PartChange::Removed)?;
    let mut patches = Vec::new();
    if let PartChange::Replaced(arguments) = call {
        patches.extend(editing::arguments(bytes, &state, arguments));
    }
    let results = results(parts);
    match results.iter().find(|result| result.change != PartChange::Removed) {
        Some(result) => patches.extend(result_patches(bytes, &state, result)),
        None if results.is_empty() => {}
        None => patches.extend(remove_result(bytes, &state)),
    }
    Some(patches)
}

/// Returns patches that remove the result of a call.
fn remove_result(bytes: &[u8], state: &Span) -> Vec<Patch> {
    let members = ["output", "error", "attachments", "metadata"];
    let mut patches = without_members(bytes, state, &members);
    let status = at_path(bytes, state, &["status"]);
    patches.extend(status.map(|range| (range, json_string("running"))));
    patches
}

/// Returns patches for a result and its media.
fn result_patches(bytes: &[u8], state: &Span, result: &ResultChange<'_>) -> Vec<Patch> {
    let mut text = match result.change {
        PartChange::Replaced(text) => text,
        _ => result.part.body.text(),
    }
    .to_owned();
    let attached = array_at(bytes, state, &["attachments"]).unwrap_or_default();
    let mut changes = result.media.iter();
    let mut removed = Vec::with_capacity(attached.len());
    for file in &attached {
        let is_media = json::parse_span(bytes, file).is_some_and(|file| message::is_media(&file));
        removed.push(match is_media.then(|| changes.next()) {
            None | Some(Some(PartChange::Kept)) => false,
            // A pruned result has lost its media.
            Some(None | Some(PartChange::Removed)) => true,
            Some(Some(PartChange::Replaced(replacement))) => {
                text = format!("{text}\n{replacement}");
                true
            }
        });
    }
    let mut patches = without_elements(&attached, &removed);
    if let Some(range) = result_text_span(bytes, state) {
        let current = json::parse_span(bytes, &range);
        if current.as_ref().and_then(Value::as_str) != Some(&text) {
            patches.push((range, json_string(&text)));
        }
    }
    patches
}

/// Returns the span of a result's text.
fn result_text_span(bytes: &[u8], state: &Span) -> Option<Span> {
    let is_error = at_path(bytes, state, &["status"]).is_some_and(|at| bytes[at] == *b"\"error\"");
    let paths: &[&[&str]] =
        if is_error { &[&["metadata", "output"], &["error"]] } else { &[&["output"]] };
    let is_text = |range: &Span| bytes.get(range.start) == Some(&b'"');
    paths.iter().find_map(|path| at_path(bytes, state, path).filter(is_text))
}
