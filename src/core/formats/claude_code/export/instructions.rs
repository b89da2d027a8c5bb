//! Writes instructions and tool definitions.
//!
//! Both are in one record. If all of it is kept, the record is written as it is. Otherwise a new one has what is left, so
//! that the managed conversation is read with the same context. The program sends its own instructions in any case.

use crate::formats::editing::PartChange;
use crate::formats::json;
use crate::json::{Value, json};
use crate::session::{Body, Managed, ManagedEntry, Part, Role, Session, Span};

/// The instructions of a managed conversation.
pub(super) enum WrittenInstructions {
    /// The record of the session with this byte range.
    Record(Span),
    /// A new record.
    New(Value),
}

/// Returns whether a record has instructions.
pub(super) fn is_record(record: &[u8]) -> bool {
    let whole = 0..record.len();
    let is = |value: Span, text: &str| record[value] == *text.as_bytes();
    let kind = json::member(record, &whole, "type").filter(|kind| {
        is(kind.clone(), "\"api-request-shape\"") || is(kind.clone(), "\"attachment\"")
    });
    let Some(kind) = kind else {
        return false;
    };
    let snapshot = || {
        let attachment = json::member(record, &whole, "attachment")?;
        json::member(record, &attachment, "type")
    };
    is(kind, "\"api-request-shape\"") || snapshot().is_some_and(|it| is(it, "\"prompt_snapshot\""))
}

/// Returns the instructions, unless there are none.
pub(super) fn written(session: &Session, managed: &Managed) -> Option<WrittenInstructions> {
    let of_entry = |entry: &ManagedEntry| match entry {
        ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => {
            Some(*message).filter(|message| session.messages[*message].role == Role::System)
        }
        ManagedEntry::Written { .. } => None,
    };
    let kept = |entry: &ManagedEntry| match entry {
        ManagedEntry::Kept { message } => Some(*message),
        _ => None,
    };
    let entries = || managed.entries.iter().filter(|entry| of_entry(entry).is_some());
    let first = of_entry(entries().next()?)?;
    let record = session.messages[first].raw.first()?;
    let of_record = (0..session.messages.len())
        .filter(|message| session.messages[*message].raw.first() == Some(record));
    if of_record.eq(entries().filter_map(kept)) && entries().all(|entry| kept(entry).is_some()) {
        return Some(WrittenInstructions::Record(record.clone()));
    }
    let (mut tools, mut texts): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut add = |part: &Part, change: PartChange<'_>| {
        let text = match change {
            PartChange::Kept => part.body.text(),
            PartChange::Replaced(text) => text,
            PartChange::Removed => return,
        };
        match &part.body {
            Body::ToolDefinition { .. } => tools.extend(crate::json::from_str(text).ok()),
            _ => texts.push(json!({"type": "text", "text": text})),
        }
    };
    for entry in entries() {
        match entry {
            ManagedEntry::Kept { message } => {
                for part in session.parts_of(&session.messages[*message]) {
                    add(part, PartChange::Kept);
                }
            }
            ManagedEntry::Edited { message, parts } => {
                let message = &session.messages[*message];
                let changes = PartChange::of_parts(message, parts);
                for (part, change) in session.parts_of(message).iter().zip(changes) {
                    add(part, change);
                }
            }
            ManagedEntry::Written { .. } => {}
        }
    }
    let old = json::parse_lenient(&session.raw(record)).unwrap_or_default();
    let field = |key: &str| old.get(key).cloned().unwrap_or_default();
    Some(WrittenInstructions::New(json!({
        "type": "api-request-shape", "sessionId": field("sessionId"), "shapeHash": "plimsoll",
        "timestamp": field("timestamp"), "version": field("version"),
        "shape": {"system": texts, "tools": tools},
    })))
}
