//! Events sent to a client during a run, and errors that end one.

use crate::json::Value;

/// An event for the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its name.
    pub name: &'static str,
    /// Its text, if any.
    pub content: Option<String>,
    /// Its values, if any.
    pub metadata: Option<Value>,
}

impl Event {
    /// Makes an event without text.
    pub fn bare(name: &'static str) -> Self {
        Self { name, content: None, metadata: None }
    }

    /// Makes a text shown as the model's own.
    pub fn message(content: impl Into<String>) -> Self {
        Self { content: Some(content.into()), ..Self::bare("ai_message") }
    }
}

/// An error that ends a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// Name of the exception.
    pub kind: &'static str,
    /// The system's error text.
    pub text: String,
}

impl RunError {
    /// Makes a `ValueError`.
    pub(super) fn of_value(text: String) -> Self {
        Self { kind: "ValueError", text }
    }

    /// Makes an error without a kind of its own.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { kind: "Exception", text: text.into() }
    }
}
