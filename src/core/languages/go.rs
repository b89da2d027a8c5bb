//! JSON as Go's `json.Marshal` writes it, since PicoClaw counts the bytes of that text.
//!
//! Go's values come from `json.Unmarshal` into maps: keys are sorted, every number is a float, and `<`, `>`, `&` and
//! the two line separators are escaped.

use crate::json::{Map, Number, Value};
use std::fmt::Write as _;

/// `json.Marshal`.
pub(crate) fn marshal(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (idx, item) in items.iter().enumerate() {
                if idx > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => write_object(out, fields),
    }
}

fn write_object(out: &mut String, fields: &Map<String, Value>) {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (idx, (key, value)) in sorted.into_iter().enumerate() {
        if idx > 0 {
            out.push(',');
        }
        write_string(out, key);
        out.push(':');
        write_value(out, value);
    }
    out.push('}');
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Returns a float in the fewest digits that parse back, with an exponent below 1e-6 and from 1e21 on.
fn number_text(number: &Number) -> String {
    let Some(value) = number.as_f64().filter(|value| value.is_finite()) else {
        return number.to_string();
    };
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_angle_brackets_escaped() {
        let value = serde_json::from_str(r#"{"b":[1.0,true,null],"a":{"x":"<é&\u0001\n"}}"#);
        assert_eq!(
            marshal(&value.unwrap()),
            "{\"a\":{\"x\":\"\\u003cé\\u0026\\u0001\\n\"},\"b\":[1,true,null]}"
        );
    }

    #[test]
    fn numbers_are_written_as_floats() {
        let written = |text: &str| marshal(&serde_json::from_str(text).unwrap());
        for (read, expected) in [
            ("3", "3"),
            ("1e2", "100"),
            ("0.50", "0.5"),
            ("-0.0", "-0"),
            ("1e21", "1e+21"),
            ("1.5e-7", "1.5e-7"),
        ] {
            assert_eq!(written(read), expected);
        }
    }
}
