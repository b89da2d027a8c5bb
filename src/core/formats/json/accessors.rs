//! Accessors for the members of JSON values.

use super::time::millis;
use crate::json::{BorrowedValue, Number, Value};
use crate::units::Millis;
use std::borrow::Cow;

/// Returns the value at a path of keys.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Returns the string at a path.
pub(crate) fn str_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// Returns whether the value at a path is `true`.
pub(crate) fn is_true(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool) == Some(true)
}

/// Returns the count at a path, also if it is written as `1e3` or `12.0`.
pub(crate) fn u64_at(value: &Value, path: &[&str]) -> Option<u64> {
    at(value, path)?.as_number().and_then(u64_of)
}

/// Converts a number to a count, see [`u64_at`].
pub(crate) fn u64_of(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        number.as_f64().filter(|n| n.is_finite() && *n >= 0.0).map(|n| n.round() as u64)
    })
}

/// Returns the time at a path, see [`millis`].
pub(crate) fn millis_at(value: &Value, path: &[&str]) -> Option<Millis> {
    at(value, path).and_then(millis)
}

/// Shortens a name from a file for use in a message.
pub(crate) fn shortened(name: &str) -> String {
    // Chosen: a message with a name of this length fits a line of a terminal or of the window.
    const CHARS: usize = 60;
    let mut chars = name.chars();
    let mut short: String = chars.by_ref().take(CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// Returns the text of a content: a string, or the texts of its blocks joined with line breaks.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(block_text).collect();
            texts.join("\n")
        }
        other => block_text(other).unwrap_or_default().to_owned(),
    }
}

fn block_text(block: &Value) -> Option<&str> {
    block.as_str().or_else(|| str_at(block, &["text"]))
}

/// Returns the text of a content, see [`text_of`].
pub(crate) fn borrowed_text_of<'a>(content: &BorrowedValue<'a>) -> Cow<'a, str> {
    match content {
        BorrowedValue::List(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(borrowed_block_text).collect();
            joined(texts)
        }
        other => borrowed_block_text(other).unwrap_or_default(),
    }
}

fn borrowed_block_text<'a>(block: &BorrowedValue<'a>) -> Option<Cow<'a, str>> {
    block.as_str().or_else(|| block.str_at(&["text"]))
}

/// Joins texts with line breaks.
pub(crate) fn joined(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    match texts.len() {
        0 | 1 => texts.pop().unwrap_or_default(),
        _ => Cow::Owned(texts.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_all_notations_of_a_count() {
        let value: Value = serde_json::from_str(
            r#"{"a":[0], "n":{"i":12,"f":12.0,"e":1e3,"neg":-1,"huge":1e400}}"#,
        )
        .unwrap();
        let read = |key| u64_at(&value, &["n", key]);
        assert_eq!(
            [read("i"), read("f"), read("e"), read("neg"), read("huge"), read("none")],
            [Some(12), Some(12), Some(1000), None, None, None]
        );
    }

    #[test]
    fn joins_the_texts_of_content_blocks() {
        for (json, text) in [
            (r#""a""#, "a"),
            (r#"[{"type":"text","text":"a"},{"type":"image"},"b",3,{"text":"c\n"}]"#, "a\nb\nc\n"),
            (r#"{"text":7,"text":"x"}"#, "x"),
            ("null", ""),
        ] {
            assert_eq!(text_of(&crate::json::from_str(json).unwrap()), text);
            assert_eq!(borrowed_text_of(&BorrowedValue::parse(json).unwrap()), text);
        }
    }
}
