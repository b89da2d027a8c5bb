//! JSON and values in Python's notation, because several systems count and truncate that text.

use crate::json::{Number, Value};
use std::fmt::Write as _;

/// Options of `json.dumps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// `ensure_ascii`: escapes all characters outside of ASCII.
    pub is_ascii: bool,
    /// Separators `(",", ":")` instead of `(", ", ": ")`.
    pub is_compact: bool,
    /// `indent`: spaces per level.
    pub indent: Option<usize>,
}

impl Layout {
    /// `json.dumps(value, ensure_ascii=False)`.
    pub const UNICODE: Self = Self { is_ascii: false, is_compact: false, indent: None };
    /// `json.dumps(value)`.
    pub const ASCII: Self = Self { is_ascii: true, ..Self::UNICODE };
    /// `json.dumps(value, separators=(",", ":"), ensure_ascii=False)`.
    pub const COMPACT: Self = Self { is_compact: true, ..Self::UNICODE };
}

/// Implements `json.dumps`.
pub fn python_dumps(value: &Value, layout: Layout) -> String {
    let mut out = String::new();
    write_value(&mut out, value, layout, 0);
    out
}

fn write_value(out: &mut String, value: &Value, layout: Layout, depth: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&python_number(number)),
        Value::String(text) => write_string(out, text, layout),
        Value::Array(items) => write_items(out, ['[', ']'], items, layout, depth, |out, item| {
            write_value(out, item, layout, depth + 1);
        }),
        Value::Object(fields) => {
            write_items(out, ['{', '}'], fields, layout, depth, |out, (key, item)| {
                write_string(out, key, layout);
                out.push_str(if layout.is_compact { ":" } else { ": " });
                write_value(out, item, layout, depth + 1);
            });
        }
    }
}

/// Writes a list or an object. An empty one stays on one line.
fn write_items<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    layout: Layout,
    depth: usize,
    mut write: impl FnMut(&mut String, T),
) {
    out.push(open);
    let line = |out: &mut String, depth: usize| {
        if let Some(indent) = layout.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    };
    let mut is_empty = true;
    for item in items {
        if !is_empty {
            // With an indent, Python writes no space after the comma.
            let is_tight = layout.is_compact || layout.indent.is_some();
            out.push_str(if is_tight { "," } else { ", " });
        }
        line(out, depth + 1);
        write(out, item);
        is_empty = false;
    }
    if !is_empty {
        line(out, depth);
    }
    out.push(close);
}

fn write_string(out: &mut String, text: &str, layout: Layout) {
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
            c if (c as u32) < 0x20 || (layout.is_ascii && !c.is_ascii()) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Formats a number as `json.dumps` writes it after `json.loads`: integers unchanged, others as `repr(float)`.
pub fn python_number(number: &Number) -> String {
    let literal = number.to_string();
    let is_whole = literal.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if is_whole {
        return if literal == "-0" { "0".to_owned() } else { literal };
    }
    literal.parse().map_or(literal, python_float)
}

/// Implements `repr(float)`: the shortest digits that read back, with an exponent below 1e-4 and from 1e16 on.
fn python_float(value: f64) -> String {
    if !value.is_finite() {
        let sign = if value < 0.0 { "-" } else { "" };
        let name = if value.is_nan() { "NaN" } else { "Infinity" };
        return format!("{sign}{name}");
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = value.to_string();
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

/// Implements `str(value)` of a value from `json.loads`: `{'cmd': 'ls', 'n': None}`.
pub fn python_str(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => python_number(number),
        Value::String(text) => repr_text(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, value)| format!("{}: {}", repr_text(key), repr(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// Implements `repr(str)`: uses double quotes only if the text contains single quotes but no double quotes. Escapes
/// unprintable characters.
fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if (c as u32) < 0x20 || (0x7f..0xa1).contains(&(c as u32)) || c == '\u{ad}' => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if is_unprintable(c) => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Returns whether `str.isprintable` is false of a character of four digits: a separator other than the space, a
/// formatting character, or one for private use.
fn is_unprintable(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{1680}' | '\u{180e}'
        | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_written_as_python_does() {
        for (read, written) in [
            ("1e300", "1e+300"),
            ("1.50", "1.5"),
            ("1e16", "1e+16"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1e15", "1000000000000000.0"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("-0.0", "-0.0"),
            ("-0", "0"),
        ] {
            assert_eq!(python_dumps(&value(read), Layout::UNICODE), written);
        }
    }

    #[test]
    fn separators_and_escapes_follow_the_layout() {
        let read = value(r#"{"a":[1,"é😀",{}],"b":"\u0007\""}"#);
        assert_eq!(
            python_dumps(&read, Layout::UNICODE),
            r#"{"a": [1, "é😀", {}], "b": "\u0007\""}"#
        );
        assert_eq!(
            python_dumps(&read, Layout::ASCII),
            r#"{"a": [1, "\u00e9\ud83d\ude00", {}], "b": "\u0007\""}"#
        );
        let pretty = Layout { indent: Some(2), ..Layout::UNICODE };
        assert_eq!(
            python_dumps(&value(r#"{"a":[1,2]}"#), pretty),
            "{\n  \"a\": [\n    1,\n    2\n  ]\n}"
        );
    }

    #[test]
    fn formats_values_as_python_prints_them() {
        assert_eq!(
            python_str(&value(r#"{"a":"it's","b":[true,null,1.0]}"#)),
            r#"{'a': "it's", 'b': [True, None, 1.0]}"#
        );
        assert_eq!(
            python_str(&value(r#"["a\u00a0\u200b\u3000\u00e9"]"#)),
            r"['a\xa0\u200b\u3000é']"
        );
    }
}
