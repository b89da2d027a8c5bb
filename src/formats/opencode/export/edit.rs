//! A record some of whose parts changed: its texts, and its tools with what came of them.

use super::super::message;
use super::plain::as_text;
use crate::formats::message_list::{
    Editing, Fate, Patch, array_at, at_path, patched, quoted, without, without_members,
};
use crate::formats::{content_edit, json};
use crate::session::{Body, Part, Span};
use serde_json::Value;

/// The record with its parts as they are to be; none if nothing is left of it.
pub(super) fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    let blocks = array_at(bytes, span, &["parts"])?;
    let mut patches = Vec::new();
    let mut fates = Vec::with_capacity(blocks.len());
    for (idx, block) in blocks.iter().enumerate() {
        let held: Vec<_> = editing
            .parts
            .iter()
            .filter(|(part, _)| part.block as usize == idx)
            .copied()
            .collect();
        fates.push(if held.is_empty() {
            Remains::Aside
        } else if let Some(more) = block_patches(bytes, block, &held) {
            patches.extend(more);
            Remains::Said
        } else {
            Remains::Gone
        });
    }
    patches.extend(without(&blocks, &gone(bytes, &blocks, &fates)));
    Some(patched(bytes, span, patches))
}

/// What is left of a part of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remains {
    /// It is no context: where a call begins and ends, what a call did to files.
    Aside,
    /// Something of it.
    Said,
    /// Nothing.
    Gone,
}

/// Which parts go: with all that a call said goes what stands around it, from where it begins to where it ends.
fn gone(bytes: &[u8], blocks: &[Span], fates: &[Remains]) -> Vec<bool> {
    let mut gone: Vec<bool> = fates.iter().map(|fate| *fate == Remains::Gone).collect();
    let mut start = 0;
    for at in 0..blocks.len() {
        let kind = at_path(bytes, &blocks[at], &["type"]);
        let kind = kind.and_then(|kind| json::parse_span(bytes, &kind));
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        if kind == "step-start" {
            start = at;
        }
        if kind == "step-finish" || at + 1 == blocks.len() {
            let call = &fates[start..=at];
            if call.contains(&Remains::Gone) && !call.contains(&Remains::Said) {
                gone[start..=at].fill(true);
            }
            start = at + 1;
        }
    }
    gone
}

/// Patches for one part of the record; none if it goes.
fn block_patches(bytes: &[u8], block: &Span, held: &[(&Part, Fate<'_>)]) -> Option<Vec<Patch>> {
    let is_call = |part: &Part| matches!(part.body, Body::ToolCall { .. });
    if held.iter().any(|(part, _)| is_call(part)) {
        return tool_patches(bytes, block, held);
    }
    // The same part may be there twice: as it was said, and in a message that a pruning left.
    let (part, fate) = held
        .iter()
        .map(|(part, fate)| (part, fate.or_gone()))
        .find(|(_, fate)| *fate != Fate::Gone)?;
    let Fate::Replaced(text) = fate else {
        return Some(Vec::new());
    };
    let own = ["text", "prompt"]
        .iter()
        .find_map(|key| at_path(bytes, block, &[key]));
    Some(match (&part.body, own) {
        (Body::Text(_), Some(place)) => vec![(place, quoted(text))],
        // A signature holds for its own thought only, and what is no text has no place for one.
        _ => as_text(bytes, block, text),
    })
}

/// What came of a call, as one message tells it: a pruning leaves it in a second one.
struct Answer<'a> {
    part: &'a Part,
    fate: Fate<'a>,
    /// What becomes of its pictures.
    media: Vec<Fate<'a>>,
}

fn answers<'a>(held: &[(&'a Part, Fate<'a>)]) -> Vec<Answer<'a>> {
    let mut answers: Vec<Answer<'a>> = Vec::new();
    for (part, fate) in held {
        match (&part.body, answers.last_mut()) {
            (Body::ToolResult { .. }, _) => answers.push(Answer {
                part,
                fate: *fate,
                media: Vec::new(),
            }),
            (Body::Media { .. }, Some(answer)) => answer.media.push(*fate),
            _ => {}
        }
    }
    answers
}

/// Patches for a call and what came of it; none if the call goes, with which its result does.
fn tool_patches(bytes: &[u8], block: &Span, held: &[(&Part, Fate<'_>)]) -> Option<Vec<Patch>> {
    let state = at_path(bytes, block, &["state"]).unwrap_or_default();
    let is_call = |part: &Part| matches!(part.body, Body::ToolCall { .. });
    let (_, call) = held
        .iter()
        .find(|(part, fate)| is_call(part) && *fate != Fate::Gone)?;
    let mut patches = Vec::new();
    if let Fate::Replaced(arguments) = call {
        patches.extend(content_edit::arguments(bytes, &state, arguments));
    }
    let answers = answers(held);
    match answers.iter().find(|answer| answer.fate != Fate::Gone) {
        Some(answer) => patches.extend(answered(bytes, &state, answer)),
        None if answers.is_empty() => {}
        None => patches.extend(unanswered(bytes, &state)),
    }
    Some(patches)
}

/// Patches for a call that is to have no answer.
fn unanswered(bytes: &[u8], state: &Span) -> Vec<Patch> {
    let told = ["output", "error", "attachments", "metadata"];
    let mut patches = without_members(bytes, state, &told);
    let status = at_path(bytes, state, &["status"]);
    patches.extend(status.map(|place| (place, quoted("running"))));
    patches
}

/// Patches for an answer, and for what is left of its pictures.
fn answered(bytes: &[u8], state: &Span, answer: &Answer<'_>) -> Vec<Patch> {
    let mut text = match answer.fate {
        Fate::Replaced(text) => text,
        _ => answer.part.body.text(),
    }
    .to_owned();
    let attached = array_at(bytes, state, &["attachments"]).unwrap_or_default();
    let mut fates = answer.media.iter();
    let mut gone = Vec::with_capacity(attached.len());
    for file in &attached {
        let is_media = json::parse_span(bytes, file).is_some_and(|file| message::is_media(&file));
        gone.push(match is_media.then(|| fates.next()) {
            None | Some(Some(Fate::Kept)) => false,
            // A pruned answer has lost them.
            Some(None | Some(Fate::Gone)) => true,
            Some(Some(Fate::Replaced(instead))) => {
                text = format!("{text}\n{instead}");
                true
            }
        });
    }
    let mut patches = without(&attached, &gone);
    if let Some(place) = answer_place(bytes, state) {
        let said = json::parse_span(bytes, &place);
        if said.as_ref().and_then(Value::as_str) != Some(&text) {
            patches.push((place, quoted(&text)));
        }
    }
    patches
}

/// Where the text of an answer stands.
fn answer_place(bytes: &[u8], state: &Span) -> Option<Span> {
    let is_error = at_path(bytes, state, &["status"]).is_some_and(|at| bytes[at] == *b"\"error\"");
    let places: &[&[&str]] = if is_error {
        &[&["metadata", "output"], &["error"]]
    } else {
        &[&["output"]]
    };
    let is_text = |place: &Span| bytes.get(place.start) == Some(&b'"');
    places
        .iter()
        .find_map(|path| at_path(bytes, state, path).filter(is_text))
}
