//! Exceptions of Python, and its operations on values and texts. Systems written in Python depend on them.

pub(crate) mod format;
pub(crate) mod json_text;
mod printing;

pub use printing::{Layout, python_dumps, python_number, python_str};

use crate::json::{Number, Value};
use std::borrow::Cow;

/// A Python exception: it ends a run of the original, so it must end one here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {text}")]
pub struct PythonError {
    /// Name of its class.
    pub kind: Cow<'static, str>,
    /// `str()` of it.
    pub text: String,
}

impl PythonError {
    /// Makes an exception of a class with a text.
    pub fn new(kind: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self { kind: kind.into(), text: text.into() }
    }

    /// Makes a `TypeError`.
    pub(crate) fn of_type(text: impl Into<String>) -> Self {
        Self::new("TypeError", text)
    }

    /// Makes a `ValueError`.
    pub(crate) fn of_value(text: impl Into<String>) -> Self {
        Self::new("ValueError", text)
    }

    /// Makes the exception of indexing beyond a list.
    pub(crate) fn out_of_range() -> Self {
        Self::new("IndexError", "list index out of range")
    }

    /// Makes the exception of `for … in value` for a value that is not iterable.
    pub(crate) fn not_iterable(value: &Value) -> Self {
        Self::of_type(format!("'{}' object is not iterable", class_of(value)))
    }

    /// Makes the exception of `len(value)` for a value without a length.
    pub(crate) fn no_length(value: &Value) -> Self {
        Self::of_type(format!("object of type '{}' has no len()", class_of(value)))
    }

    /// Makes the exception of `value.get(…)` for a value that is not a dict.
    pub(crate) fn no_get(value: &Value) -> Self {
        let text = format!("'{}' object has no attribute 'get'", class_of(value));
        Self::new("AttributeError", text)
    }
}

/// Returns the class of a value that `json.loads` read.
pub(crate) fn class_of(value: &Value) -> &'static str {
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

fn is_whole(number: &Number) -> bool {
    !number.to_string().contains(['.', 'e', 'E'])
}

/// `len(value)`.
pub(crate) fn len(value: &Value) -> Result<usize, PythonError> {
    match value {
        Value::String(text) => Ok(text.chars().count()),
        Value::Array(items) => Ok(items.len()),
        Value::Object(fields) => Ok(fields.len()),
        other => Err(PythonError::no_length(other)),
    }
}

/// `bool(value)`.
pub fn is_true(value: &Value) -> bool {
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
pub(crate) fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// Returns an integer; `None` for anything else.
pub(crate) fn as_integer(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(flag) => Some(i64::from(*flag)),
        Value::Number(number) if is_whole(number) => number.as_i64(),
        _ => None,
    }
}

/// Converts a length to Python's signed arithmetic.
pub(crate) fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// `f"{n:,}"`.
pub(crate) fn with_commas(n: usize) -> String {
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

/// `str.isspace` of one character: true for four separators more than in Rust.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `text.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `text.rstrip()`.
pub(crate) fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// `text.splitlines()`.
pub(crate) fn split_lines(text: &str) -> Vec<&str> {
    let is_end = |c: char| matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(is_end) {
        lines.push(&rest[..end]);
        let after = &rest[end..];
        let first = after.chars().next().map_or(0, char::len_utf8);
        rest = after.strip_prefix("\r\n").unwrap_or(&after[first..]);
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// `text[:n]`, in characters.
pub fn first_chars(text: &str, n: usize) -> &str {
    let end = text.char_indices().nth(n);
    end.map_or(text, |(at, _)| &text[..at])
}

/// Returns the last `n` characters of a text.
pub fn last_chars(text: &str, n: usize) -> &str {
    let Some(before) = n.checked_sub(1) else {
        return "";
    };
    let start = text.char_indices().nth_back(before);
    start.map_or(text, |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_tails_are_counted_in_characters() {
        assert_eq!(first_chars("a\u{e9}\u{1f600}b", 3), "a\u{e9}\u{1f600}");
        assert_eq!(first_chars("ab", 3), "ab");
        assert_eq!(last_chars("a\u{e9}\u{1f600}b", 2), "\u{1f600}b");
        assert_eq!((last_chars("ab", 3), last_chars("ab", 0)), ("ab", ""));
        assert_eq!(strip("\u{1f} x\n"), "x");
    }

    #[test]
    fn lines_end_at_any_separator() {
        assert_eq!(split_lines("a\r\nb\r\n\nc\u{2028}"), ["a", "b", "", "c"]);
        assert!(split_lines("").is_empty());
    }
}
