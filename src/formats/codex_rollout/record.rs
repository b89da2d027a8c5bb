//! The text of response items, as the file has it.

use super::super::json::{member, members};
use crate::session::{Role, Session, Span};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The item that a message was read from.
#[derive(Clone, Debug)]
pub(super) enum Record {
    /// It stands in the file.
    There(Span),
    /// Codex wrote down its summary only; this is the message that it puts before the model for it.
    Made(Box<[u8]>),
}

impl Record {
    /// The item in the record at `span`: a line's payload, or an item of a new context itself.
    pub(super) fn at(bytes: &[u8], span: &Span) -> Self {
        let members = members(bytes, span).unwrap_or_default();
        let find = |key: &str| members.iter().rev().find(|(name, _)| name == key);
        let Some((_, payload)) = find("payload") else {
            return Self::There(span.clone());
        };
        let is_compacted =
            find("type").is_some_and(|(_, kind)| &bytes[kind.clone()] == b"\"compacted\"");
        if is_compacted
            && let Some(summary) = member(bytes, payload, "message")
            && let Ok(Value::String(text)) = super::super::json::parse_lenient(&bytes[summary])
        {
            return Self::Made(words(Role::User, &text).to_string().into_bytes().into());
        }
        Self::There(payload.clone())
    }

    /// The item's text.
    pub(super) fn text<'a>(&'a self, session: &'a Session) -> Cow<'a, [u8]> {
        match self {
            Self::There(span) => session.raw(span),
            Self::Made(text) => Cow::Borrowed(text),
        }
    }
}

/// The item of a record: a managed copy keeps it byte for byte.
pub(super) fn kept(record: &[u8]) -> Vec<Span> {
    vec![match Record::at(record, &(0..record.len())) {
        Record::There(span) => span,
        Record::Made(_) => 0..record.len(),
    }]
}

/// A message that says this.
pub(super) fn words(role: Role, text: &str) -> Value {
    let (role, kind) = match role {
        Role::System => ("developer", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
        Role::User | Role::Tool => ("user", "input_text"),
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}
