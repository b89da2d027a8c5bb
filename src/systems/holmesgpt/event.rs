//! What a client is told while a run goes on, and what ends one.

use serde_json::Value;

/// What a client is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happened.
    pub name: &'static str,
    /// In words, where it has some.
    pub content: Option<String>,
    /// In figures, where it has some.
    pub metadata: Option<Value>,
}

impl Event {
    /// An event without words.
    pub fn bare(name: &'static str) -> Self {
        Self {
            name,
            content: None,
            metadata: None,
        }
    }

    /// Words shown as the model's own.
    pub fn message(content: impl Into<String>) -> Self {
        Self {
            content: Some(content.into()),
            ..Self::bare("ai_message")
        }
    }
}

/// An error that ends a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// What kind: the name of an exception.
    pub kind: &'static str,
    /// In the system's words.
    pub text: String,
}

impl RunError {
    /// One without a kind of its own.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self {
            kind: "Exception",
            text: text.into(),
        }
    }
}
