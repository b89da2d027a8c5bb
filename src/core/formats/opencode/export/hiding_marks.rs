//! Removes marks that hide a part of the context from a record: marks of pruned outputs, the request for a summary, and
//! the mark of the summary. The program ignores messages before a summary.

use super::super::message::SUMMARY_PROMPT;
use crate::formats::editing::{
    Patch, array_at, at_path, json_string, patched, with_member, without_members,
};
use crate::formats::json;
use crate::session::Span;
use std::borrow::Cow;

/// Returns the record without such marks. Borrows it if it has none.
pub(super) fn strip_hiding_marks(record: &[u8]) -> Cow<'_, [u8]> {
    let whole = 0..record.len();
    let mut patches = Vec::new();
    let info = at_path(record, &whole, &["info"]).and_then(|info| {
        let value = json::parse_span(record, &info)?;
        let is_summary = json::str_at(&value, &["role"]) == Some("assistant")
            && json::is_true(&value, &["summary"]);
        is_summary.then_some(info)
    });
    if let Some(info) = info {
        patches.extend(without_members(record, &info, &["summary"]));
    }
    for block in array_at(record, &whole, &["parts"]).unwrap_or_default() {
        patches.extend(of_block(record, &block));
    }
    if patches.is_empty() {
        Cow::Borrowed(record)
    } else {
        Cow::Owned(patched(record, &whole, patches))
    }
}

fn of_block(record: &[u8], block: &Span) -> Vec<Patch> {
    let kind = at_path(record, block, &["type"]).and_then(|kind| json::parse_span(record, &kind));
    match kind.as_ref().and_then(|kind| kind.as_str()) {
        Some("tool") => {
            let time = at_path(record, block, &["state", "time"]);
            time.map_or_else(Vec::new, |time| without_members(record, &time, &["compacted"]))
        }
        Some("compaction") => {
            let mut patches = as_text(record, block, SUMMARY_PROMPT);
            patches.push(with_member(record, block, "synthetic", b"true"));
            patches
        }
        _ => Vec::new(),
    }
}

/// Members of parts other than the text and the ids.
const NON_TEXT_MEMBERS: [&str; 16] = [
    "text",
    "synthetic",
    "metadata",
    "mime",
    "url",
    "filename",
    "source",
    "auto",
    "overflow",
    "tail_start_id",
    "prompt",
    "description",
    "command",
    "agent",
    "model",
    "data",
];

/// Returns patches that replace a part by a text.
pub(super) fn as_text(bytes: &[u8], block: &Span, text: &str) -> Vec<Patch> {
    let mut patches = without_members(bytes, block, &NON_TEXT_MEMBERS);
    patches.push(with_member(bytes, block, "text", &json_string(text)));
    patches.push(match at_path(bytes, block, &["type"]) {
        Some(kind) => (kind, json_string("text")),
        None => with_member(bytes, block, "type", &json_string("text")),
    });
    patches
}
