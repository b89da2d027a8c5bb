//! The body of an answer as a file records it.

use super::events;
use crate::formats::json;
use crate::json::Value;

/// Body of an answer.
#[derive(Debug)]
pub(super) enum Response {
    /// One value.
    Whole(Value),
    /// The events of a stream.
    Events(Vec<Value>),
}

impl Response {
    /// Reads a body from its text: JSON or an event stream.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(value) = json::parse_lenient(text.as_bytes()) {
            return Self::of_value(&value);
        }
        let events = events::of_text(text);
        (!events.is_empty()).then_some(Self::Events(events))
    }

    /// Reads a body that a log stores as a value: the body itself, its text, or its events.
    pub(super) fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::of_text(text),
            Value::Array(events) => {
                Some(Self::Events(events.iter().filter_map(events::of_value).collect()))
            }
            Value::Object(_) => Some(Self::Whole(value.clone())),
            _ => None,
        }
    }
}
