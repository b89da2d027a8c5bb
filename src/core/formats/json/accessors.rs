//! Accessors for the members of JSON values.

use crate::formats::time;
use crate::units::Millis;
use serde_json::{Number, Value};

/// Returns the value at a path of keys.
pub(in crate::formats) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Returns the string at a path.
pub(in crate::formats) fn str_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// Whether the value at a path is `true`.
pub(in crate::formats) fn is_true(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool) == Some(true)
}

/// Returns the count at a path, also if it is written as `1e3` or `12.0`.
pub(in crate::formats) fn u64_at(value: &Value, path: &[&str]) -> Option<u64> {
    at(value, path)?.as_number().and_then(u64_of)
}

/// Converts a number to a count, see [`u64_at`].
pub(in crate::formats) fn u64_of(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        number.as_f64().filter(|n| n.is_finite() && *n >= 0.0).map(|n| n.round() as u64)
    })
}

/// Returns the time at a path, see [`time::millis`].
pub(in crate::formats) fn millis_at(value: &Value, path: &[&str]) -> Option<Millis> {
    at(value, path).and_then(time::millis)
}

/// Shortens a name from a file for use in a message.
pub(in crate::formats) fn shortened(name: &str) -> String {
    const CHARS: usize = 60;
    let mut chars = name.chars();
    let mut short: String = chars.by_ref().take(CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// Returns the text of a content: a string, or the texts of its blocks joined with line breaks.
pub(in crate::formats) fn text_of(content: &Value) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        assert_eq!(text_of(&json!("a")), "a");
        assert_eq!(text_of(&json!([{"type":"text","text":"a"},{"type":"image"},"b"])), "a\nb");
        assert_eq!(text_of(&json!(null)), "");
    }
}
