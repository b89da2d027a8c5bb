//! Writes a managed conversation as the file that `opencode export` writes.
//!
//! Kept messages keep the bytes of their records, but for what would hide a part of the context: what a compaction or
//! a pruning of the program's own left behind is all that the new file holds, so nothing in it asks to look away from
//! the rest ([`plain`]).

mod edit;
mod plain;
mod written;

use super::FORMAT;
use crate::formats::message_list::{Left, MARK, is_whole, left, patched, with_member};
use crate::formats::{CannotExport, json, mark};
use crate::session::{Managed, Session, Span};
use plain::plain;
use std::borrow::Cow;
use written::Writer;

/// Writes the conversation.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes.whole();
    if session.source.format != FORMAT.name {
        let reason = format!("only an {0} can be written as one", FORMAT.label);
        return Err(CannotExport { reason });
    }
    if is_whole(session, managed, &FORMAT) {
        return Ok(bytes.to_vec());
    }
    let whole = json::document_span(bytes);
    let records = records(session, managed);
    let list = [b"[\n    ", &records.join(&b",\n    "[..])[..], b"\n  ]"].concat();
    let mark = mark::mark(managed, Some(records.len())).to_string();
    let Some(place) = json::member(bytes, &whole, "messages") else {
        // A bare list has no place for the mark.
        let text = [
            b"{\n  \"plimsoll\": ",
            mark.as_bytes(),
            b",\n  \"messages\": ",
            &list,
            b"\n}\n",
        ];
        return Ok(text.concat());
    };
    // What the kept answers report belongs to contexts that the file does not hold any more.
    let mark = match json::member(bytes, &whole, MARK) {
        Some(old) => (old, mark.into_bytes()),
        None => with_member(bytes, &whole, MARK, mark.as_bytes()),
    };
    Ok(patched(bytes, &(0..bytes.len()), vec![mark, (place, list)]))
}

/// What of a record a copy keeps to the byte: all of it, unless it hides a part of the context.
pub(super) fn kept(record: &[u8]) -> Vec<Span> {
    match plain(record) {
        Cow::Borrowed(_) => std::iter::once(0..record.len()).collect(),
        Cow::Owned(_) => Vec::new(),
    }
}

/// The messages of the new file, in order.
fn records(session: &Session, managed: &Managed) -> Vec<Vec<u8>> {
    let left: Vec<Left<'_>> = left(session, managed, edit::edit);
    let mut writer = Writer::new(session);
    let mut records = Vec::with_capacity(left.len());
    for (at, item) in left.iter().enumerate() {
        records.push(match item {
            Left::Record { text, .. } => {
                writer.passed(text);
                plain(text).into_owned()
            }
            Left::Written { role, text } => {
                let next = left[at..].iter().find_map(|item| match item {
                    Left::Record { text, .. } => Some(&text[..]),
                    Left::Written { .. } => None,
                });
                writer.write(*role, text, next)
            }
        });
    }
    records
}
