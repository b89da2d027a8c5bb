//! Writes a managed conversation in the form of `opencode export`.
//!
//! Kept messages are copied byte for byte, except for marks that hide a part of the context. The new file contains only
//! what the program's own compactions and prunings kept, so that nothing in it may hide the rest ([`hiding_marks`]).

mod added_message;
mod edit;
mod hiding_marks;

use super::{FORMAT, RECORD_IDS};
use crate::formats::editing::{
    OutputRecord, existing, is_whole, output_records, patched, with_member,
};
use crate::formats::mark::MARK;
use crate::formats::{json, mark};
use crate::session::{Managed, Session, Span};
use added_message::AddedMessageWriter;
use hiding_marks::strip_hiding_marks;
use std::borrow::Cow;

/// Writes the conversation.
pub(super) fn export(session: &Session, managed: &Managed) -> Vec<u8> {
    let bytes: &[u8] = &session.source.bytes.whole();
    if is_whole(session, managed, &FORMAT) {
        return bytes.to_vec();
    }
    let whole = json::document_span(bytes);
    let records = records(session, managed);
    let list = [b"[\n    ", &records.join(&b",\n    "[..])[..], b"\n  ]"].concat();
    let mark = mark::mark(managed, Some(records.len())).to_string();
    let Some(range) = json::member(bytes, &whole, "messages") else {
        // A bare list has no place for the mark.
        let text =
            [b"{\n  \"plimsoll\": ", mark.as_bytes(), b",\n  \"messages\": ", &list, b"\n}\n"];
        return text.concat();
    };
    // The usage that the kept answers report belongs to contexts that are no longer in the file.
    let mark = match json::member(bytes, &whole, MARK) {
        Some(old) => (old, mark.into_bytes()),
        None => with_member(bytes, &whole, MARK, mark.as_bytes()),
    };
    patched(bytes, &(0..bytes.len()), vec![mark, (range, list)])
}

/// Returns the spans of a record that a managed conversation keeps byte for byte: all of it, unless it hides a part of
/// the context.
pub(super) fn kept(record: &[u8]) -> Vec<Span> {
    match strip_hiding_marks(record) {
        Cow::Borrowed(_) => std::iter::once(0..record.len()).collect(),
        Cow::Owned(_) => Vec::new(),
    }
}

/// Returns the messages of the new file, in order.
fn records(session: &Session, managed: &Managed) -> Vec<Vec<u8>> {
    let items: Vec<OutputRecord<'_>> = output_records(session, managed, edit::edit);
    let mut writer = AddedMessageWriter::new(session, RECORD_IDS.taken(existing(&items)));
    let mut records = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        records.push(match item {
            OutputRecord::Existing { text, .. } => {
                writer.set_previous(text);
                strip_hiding_marks(text).into_owned()
            }
            OutputRecord::Added { role, text } => {
                let next = items[at..].iter().find_map(|item| match item {
                    OutputRecord::Existing { text, .. } => Some(&text[..]),
                    OutputRecord::Added { .. } => None,
                });
                writer.write(*role, text, next)
            }
        });
    }
    records
}
