//! Python exceptions, because the shipped code's handling of them is part of its rules.

use crate::chat::Wants;
use serde_json::Value;
use std::fmt;

/// An exception: its class and its `str` text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The class.
    pub kind: &'static str,
    /// The message.
    pub message: String,
}

/// Reason why a rule stopped: it needs a summary first, or it raised.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// A summary is needed first.
    Wants(Wants),
    /// An exception was raised.
    Fault(Fault),
}

impl Fault {
    /// Makes an exception of a class.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }

    /// Makes a `TypeError`.
    pub fn of_type(message: impl Into<String>) -> Self {
        Self::new("TypeError", message)
    }

    /// Makes a `ValueError`.
    pub fn of_value(message: impl Into<String>) -> Self {
        Self::new("ValueError", message)
    }

    /// Makes the exception of indexing beyond a list.
    pub fn out_of_range() -> Self {
        Self::new("IndexError", "list index out of range")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Wants> for Stop {
    fn from(wants: Wants) -> Self {
        Self::Wants(wants)
    }
}

/// Returns the Python class of a JSON value.
pub(super) fn class_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if is_whole(number) => "int",
        Value::Number(_) => "float",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

fn is_whole(number: &serde_json::Number) -> bool {
    !number.to_string().contains(['.', 'e', 'E'])
}

/// `len(value)`.
pub(super) fn len(value: &Value) -> Result<usize, Fault> {
    match value {
        Value::String(text) => Ok(text.chars().count()),
        Value::Array(items) => Ok(items.len()),
        Value::Object(fields) => Ok(fields.len()),
        other => Err(Fault::of_type(format!(
            "object of type '{}' has no len()",
            class_of(other)
        ))),
    }
}

/// `bool(value)`.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Returns a value for arithmetic; `None` if it is not a number in Python.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// Returns an integer; `None` for anything else.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(flag) => Some(i64::from(*flag)),
        Value::Number(number) if is_whole(number) => number.as_i64(),
        _ => None,
    }
}

/// Returns whether Python's `str` methods treat it as white space.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `text[:n]` in characters.
pub(super) fn head(text: &str, n: usize) -> &str {
    let end = text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// `text[-n:]` in characters, `n` above 0.
pub(super) fn tail(text: &str, n: usize) -> &str {
    let start = text.char_indices().rev().nth(n.saturating_sub(1));
    start.map_or(text, |(at, _)| text.get(at..).unwrap_or(text))
}

/// Converts a length to Python's signed arithmetic.
pub(super) fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// `f"{n:,}"`.
pub(super) fn with_commas(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
