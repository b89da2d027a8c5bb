//! The source text of response items.

use crate::formats::json::{member, members};
use crate::json::{Value, json};
use crate::session::{Role, Session, Span};
use std::borrow::Cow;

/// The item from which a message was read.
#[derive(Clone, Debug)]
pub(super) enum Record {
    /// Byte range of the item in the file.
    InFile(Span),
    /// Codex recorded only a summary. This is the message that it sends to the model for it.
    Generated(Box<[u8]>),
}

impl Record {
    /// Returns the item in the record at `span`: a line's payload, or the item of a new context itself.
    pub(super) fn at(bytes: &[u8], span: &Span) -> Self {
        let members = members(bytes, span).unwrap_or_default();
        let find = |key: &str| members.iter().rev().find(|(name, _)| name == key);
        let Some((_, payload)) = find("payload") else {
            return Self::InFile(span.clone());
        };
        let is_compacted =
            find("type").is_some_and(|(_, kind)| &bytes[kind.clone()] == b"\"compacted\"");
        if is_compacted
            && let Some(summary) = member(bytes, payload, "message")
            && let Ok(Value::String(text)) = crate::formats::json::parse_lenient(&bytes[summary])
        {
            return Self::Generated(
                message_item(Role::User, &text).to_string().into_bytes().into(),
            );
        }
        Self::InFile(payload.clone())
    }

    /// Returns the item's text.
    pub(super) fn text<'a>(&'a self, session: &'a Session) -> Cow<'a, [u8]> {
        match self {
            Self::InFile(span) => session.raw(span),
            Self::Generated(text) => Cow::Borrowed(text),
        }
    }
}

/// Returns the byte range of a record's item, which a managed conversation keeps verbatim.
pub(super) fn kept(record: &[u8]) -> Vec<Span> {
    vec![match Record::at(record, &(0..record.len())) {
        Record::InFile(span) => span,
        Record::Generated(_) => 0..record.len(),
    }]
}

/// Returns a message item with this text.
pub(super) fn message_item(role: Role, text: &str) -> Value {
    let (role, kind) = match role {
        Role::System => ("developer", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
        Role::User | Role::Tool => ("user", "input_text"),
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}
