//! Parses values.

use super::parser::{Parser, Tree};
use super::text::Text;
use super::{Map, Number, Value};
use serde::de::Error as _;
use std::str::FromStr;

/// Parses a text that is one value. Of duplicate keys, the last value is kept at the position of the first.
///
/// # Errors
/// The error of `serde_json`.
pub fn from_str(text: &str) -> Result<Value, serde_json::Error> {
    Parser::whole(text).ok_or_else(|| error_of(text.as_bytes()))
}

/// Parses bytes that are one value, see [`from_str`].
///
/// # Errors
/// The error of `serde_json`.
pub fn from_slice(text: &[u8]) -> Result<Value, serde_json::Error> {
    let value = std::str::from_utf8(text).ok().and_then(Parser::whole);
    value.ok_or_else(|| error_of(text))
}

/// Parses the value at the start of a text, after whitespace. Returns it with the rest of the text, or `None` if there is no
/// value or another one without a character between them.
pub fn leading_value(text: &str) -> Option<(Value, &str)> {
    let (value, rest) = Parser::leading(text)?;
    // The parser has skipped the whitespace after a list or an object.
    let read = text[..text.len() - rest.len()].trim_end_matches([' ', '\t', '\n', '\r']);
    let rest = &text[read.len()..];
    let is_closed = matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_));
    let is_end = |c: char| c.is_ascii_whitespace() || "[]{}\",:".contains(c);
    (is_closed || rest.is_empty() || rest.starts_with(is_end)).then_some((value, rest))
}

/// Describes why a text is not a value. Without its feature `arbitrary_precision`, `serde_json` rejects a number beyond the range of
/// `f64` before it comes to the actual error.
fn error_of(text: &[u8]) -> serde_json::Error {
    let parsed = serde_json::from_slice::<serde_json::Value>(text);
    parsed.err().unwrap_or_else(|| serde_json::Error::custom("this JSON is not supported"))
}

impl FromStr for Value {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        from_str(text)
    }
}

impl<'a> Tree<'a> for Value {
    type Members = Map<String, Self>;

    const NULL: Self = Self::Null;

    fn truth(is_true: bool) -> Self {
        Self::Bool(is_true)
    }

    fn number(notation: &'a str) -> Self {
        Self::Number(Number::of_notation(notation))
    }

    fn string(text: Text<'a>) -> Self {
        Self::String(text.decoded().into_owned())
    }

    fn list(elements: Vec<Self>) -> Self {
        Self::Array(elements)
    }

    fn no_members(_: bool) -> Self::Members {
        Map::new()
    }

    fn add_member(members: &mut Self::Members, name: Text<'a>, value: Self) {
        members.insert(name.decoded().into_owned(), value);
    }

    fn object(members: Self::Members) -> Self {
        Self::Object(members)
    }
}
