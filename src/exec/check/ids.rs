//! Checks that ids are unique.

use super::outcome::Check;
use super::promise::{Promise, context_messages};
use crate::formats::RecordIds;
use crate::session::{Body, ManagedEntry, Session, Span};
use std::collections::HashSet;
use std::fmt;

/// An id of a record, of a message or of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id<'a> {
    Record(&'a str),
    Message(&'a str),
    Call(&'a str),
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(id) => write!(f, "record {id}"),
            Self::Message(id) => write!(f, "message {id}"),
            Self::Call(id) => write!(f, "call {id}"),
        }
    }
}

/// Checks that no two records, messages or calls share an id, unless they do in the source.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    const NAME: &str = "ids unique";
    const PASSED: &str = "no two records, messages or calls share an id";
    let source = &promise.case.session;
    let ids = promise.format.record_ids.as_ref();
    let written = ids.map(|ids| ids.of_file(&read.source.bytes));
    let written = written.unwrap_or_default();
    let mut repeated = repeated_records(&written);
    repeated.extend(repeated_ids(read, context_messages(read)));
    if repeated.is_empty() {
        return Check::passed(NAME, PASSED);
    }
    let kept = ids.map(|ids| kept_records(promise, read, ids));
    let kept = kept.unwrap_or_default();
    let mut known: HashSet<Id<'_>> = repeated_records(&kept).into_iter().collect();
    known.extend(repeated_ids(source, 0..source.messages.len()));
    if let Some(id) = repeated.iter().find(|id| !known.contains(*id)) {
        return Check::failed(NAME, format!("{id} is not unique"));
    }
    // Providers do not see the ids of records and messages.
    match repeated.iter().find(|id| matches!(id, Id::Call(_))) {
        Some(id) => Check::warned(
            NAME,
            format!("{id} is not unique, as in the source; providers may reject this"),
        ),
        None => Check::passed(NAME, PASSED),
    }
}

/// Returns the repeated ids of records.
fn repeated_records(ids: &[String]) -> Vec<Id<'_>> {
    let mut seen = HashSet::new();
    let repeated = ids.iter().filter(|id| !seen.insert(id.as_str()));
    repeated.map(|id| Id::Record(id)).collect()
}

/// Returns the ids of the source's records that the managed conversation keeps.
fn kept_records(promise: &Promise<'_>, read: &Session, ids: &RecordIds) -> Vec<String> {
    let source = &promise.case.session;
    if !promise.is_same_format() {
        return Vec::new();
    }
    let held = source.source.bytes.whole();
    if *held == *read.source.bytes.whole() {
        return ids.of_file(&source.source.bytes);
    }
    let mut starts = HashSet::new();
    let messages = promise.managed.entries.iter().filter_map(|entry| match entry {
        ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => Some(*message),
        ManagedEntry::Written { .. } => None,
    });
    let spans = messages.flat_map(|message| &source.messages[message].raw);
    let spans = spans.filter(|span| starts.insert(span.start));
    spans.flat_map(|span| ids.of_record(&source.raw(span))).collect()
}

/// Returns the repeated ids of messages, then those of calls.
fn repeated_ids(session: &Session, messages: impl IntoIterator<Item = usize>) -> Vec<Id<'_>> {
    let (mut of_messages, mut of_calls) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    // One record may hold an answer and the results of its calls.
    let mut record: Option<(Id<'_>, &[Span])> = None;
    for idx in messages {
        let message = &session.messages[idx];
        let id = message.id.as_deref().map(Id::Message);
        let own = id.map(|id| (id, &message.raw[..]));
        if own.is_none() || own != record {
            of_messages.extend(id.filter(|id| !seen.insert(*id)));
        }
        record = own;
        for part in session.parts_of(message) {
            if let Body::ToolCall { call, .. } = &part.body
                && !seen.insert(Id::Call(call))
            {
                of_calls.push(Id::Call(call));
            }
        }
    }
    of_messages.append(&mut of_calls);
    of_messages
}
