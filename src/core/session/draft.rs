//! Messages and model calls as a format reads them, without an index.

use super::{CutAnswer, EmptyContent, Part, Role, Span, Usage};
use crate::units::{Millis, Tokens};

/// A message as a format reads it, without an index.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Id in the file.
    pub id: Option<Box<str>>,
    /// Role of the sender.
    pub role: Role,
    /// Time, if recorded.
    pub time: Option<Millis>,
    /// See [`super::Message::is_injected`].
    pub is_injected: bool,
    /// See [`super::Message::is_summary`].
    pub is_summary: bool,
    /// See [`super::Message::in_history`].
    pub in_history: bool,
    /// See [`super::Message::raw`].
    pub raw: Vec<Span>,
    /// Parts of the message.
    pub parts: Vec<Part>,
    /// See [`super::Message::empty`].
    pub empty: Option<EmptyContent>,
}

impl Draft {
    /// Creates an ordinary message of the history without an id or a time.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self {
            id: None,
            role,
            time: None,
            is_injected: false,
            is_summary: false,
            in_history: true,
            raw: Vec::new(),
            parts,
            empty: None,
        }
    }
}

/// A recorded model call, to be added directly before the assistant message it produced.
#[derive(Clone, Debug, Default)]
pub struct CallDraft {
    /// Name of the model.
    pub model: Option<String>,
    /// Recorded context window.
    pub window: Option<Tokens>,
    /// Reported usage.
    pub usage: Option<Usage>,
    /// Time of the call.
    pub time: Option<Millis>,
    /// See [`super::Call::answer`].
    pub answer: Option<Tokens>,
    /// See [`super::Call::cut`].
    pub cut: Option<CutAnswer>,
}
