//! Writes a session record by record, for formats whose files are more than a list of messages.

use super::{Editing, MessageChanges, PartChange};
use crate::formats::{Format, Input};
use crate::progress::Progress;
use crate::session::{Body, Managed, ManagedEntry, Role, Session, Span};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A record to write, in the managed order.
#[derive(Debug)]
pub(crate) enum OutputRecord<'a> {
    /// A record of the file, possibly edited.
    Existing {
        /// Text of the record.
        text: Cow<'a, [u8]>,
        /// Index of its first remaining message.
        message: usize,
    },
    /// A message that Plimsoll adds.
    Added {
        /// Role of the sender.
        role: Role,
        /// Text of the message.
        text: &'a str,
    },
}

/// Returns the texts of the records of the file.
pub(crate) fn existing<'a>(records: &'a [OutputRecord<'_>]) -> impl Iterator<Item = &'a [u8]> {
    records.iter().filter_map(|record| match record {
        OutputRecord::Existing { text, .. } => Some(&**text),
        OutputRecord::Added { .. } => None,
    })
}

/// Returns whether the conversation is unchanged and the whole file belongs to it: the session is the file's main one.
pub(crate) fn is_whole(session: &Session, managed: &Managed, format: &Format) -> bool {
    is_all_kept(session, managed) && is_main(session, format)
}

/// Returns whether a session is the first of its file, rather than an abandoned branch.
fn is_main(session: &Session, format: &Format) -> bool {
    let input = Input { name: session.source.name.clone(), bytes: session.source.bytes.clone() };
    let parsed = format.read(&input, &Progress::default());
    let first = parsed.ok().and_then(|parsed| parsed.sessions.into_iter().next());
    let records = |session: &Session| -> Vec<Vec<Span>> {
        session.messages.iter().map(|message| message.raw.clone()).collect()
    };
    first.is_some_and(|first| records(&first) == records(session))
}

fn is_all_kept(session: &Session, managed: &Managed) -> bool {
    let is_kept = |(idx, entry): (usize, &ManagedEntry)| matches!(entry, ManagedEntry::Kept { message } if *message == idx);
    managed.entries.len() == session.messages.len()
        && managed.entries.iter().enumerate().all(is_kept)
}

/// Returns a call whose result is kept without it, although both are in one record, which cannot hold the result alone.
pub fn result_without_call<'a>(session: &'a Session, managed: &Managed) -> Option<&'a str> {
    let changes = MessageChanges::new(managed);
    let (mut calls, mut kept_calls) = (HashSet::new(), HashSet::new());
    let mut results = Vec::new();
    for (idx, message) in session.messages.iter().enumerate() {
        let parts = session.parts_of(message).iter();
        for (part, change) in parts.zip(changes.of(idx, message)) {
            let record = message.raw.get(part.record as usize);
            let Some(start) = record.map(|span| span.start) else {
                continue;
            };
            let is_kept = change != PartChange::Removed;
            match &part.body {
                Body::ToolCall { call, .. } => {
                    calls.insert((start, &**call));
                    if is_kept {
                        kept_calls.insert((start, &**call));
                    }
                }
                Body::ToolResult { call, .. } if is_kept => results.push((start, &**call)),
                _ => {}
            }
        }
    }
    let is_alone = |result: &(usize, &str)| calls.contains(result) && !kept_calls.contains(result);
    results.into_iter().find(is_alone).map(|(_, call)| call)
}

/// Returns the records to write. A record that holds several messages, or that was read more than once, is written at
/// the position of the first.
pub(crate) fn output_records<'a>(
    session: &'a Session,
    managed: &'a Managed,
    edit: impl Fn(&Editing<'_>) -> Option<Vec<u8>>,
) -> Vec<OutputRecord<'a>> {
    let changes = MessageChanges::new(managed);
    let mut by_record: HashMap<usize, Vec<(usize, u32)>> = HashMap::new();
    for (idx, message) in session.messages.iter().enumerate() {
        for (record, span) in (0_u32..).zip(&message.raw) {
            by_record.entry(span.start).or_default().push((idx, record));
        }
    }
    let mut done: HashSet<usize> = HashSet::new();
    let mut records = Vec::with_capacity(managed.entries.len());
    for entry in &managed.entries {
        let message = match entry {
            ManagedEntry::Written { role, text, answers, .. } => {
                if !text.is_empty() && answers.is_none() {
                    records.push(OutputRecord::Added { role: *role, text });
                }
                continue;
            }
            ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => *message,
        };
        let raw = session.messages.get(message).map_or(&[][..], |m| &m.raw);
        for span in raw.iter().filter(|span| done.insert(span.start)) {
            let messages = by_record.get(&span.start).map_or(&[][..], Vec::as_slice);
            let text = record(session, span, messages, &changes, &edit);
            records.extend(text.map(|text| OutputRecord::Existing { text, message }));
        }
    }
    records
}

fn record<'a>(
    session: &'a Session,
    span: &Span,
    messages: &[(usize, u32)],
    changes: &MessageChanges<'a>,
    edit: &impl Fn(&Editing<'_>) -> Option<Vec<u8>>,
) -> Option<Cow<'a, [u8]>> {
    let mut parts = Vec::new();
    for (idx, record) in messages {
        let message = &session.messages[*idx];
        let of = session.parts_of(message).iter().zip(changes.of(*idx, message));
        parts.extend(of.filter(|(part, _)| part.record == *record));
    }
    let editing = Editing { bytes: &session.source.bytes.whole(), span: span.clone(), parts };
    if editing.is_untouched() {
        Some(session.raw(span))
    } else if editing.parts.iter().all(|(_, change)| *change == PartChange::Removed) {
        None
    } else {
        edit(&editing).map(Cow::Owned)
    }
}
