//! Writes values as JSON, with the escapes and the layout of `serde_json`.

use super::char_search::{CharSearch, Special};
use super::{Map, Value};
use std::fmt::{self, Write as _};

impl fmt::Display for Value {
    /// Writes the value on one line, with `{:#}` on a line per value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut json = String::new();
        let indent = f.alternate().then_some(0);
        push_value(self, indent, &mut json);
        f.write_str(&json)
    }
}

/// Appends a value. `indent` is its depth if each value has its own line.
fn push_value(value: &Value, indent: Option<usize>, json: &mut String) {
    match value {
        Value::Null => json.push_str("null"),
        Value::Bool(is_true) => json.push_str(if *is_true { "true" } else { "false" }),
        Value::Number(number) => json.push_str(number.as_str()),
        Value::String(text) => push_text(text, json),
        Value::Array(elements) => push_list(elements, indent, json),
        Value::Object(members) => push_object(members, indent, json),
    }
}

fn push_list(elements: &[Value], indent: Option<usize>, json: &mut String) {
    let inner = indent.map(|depth| depth + 1);
    json.push('[');
    for (idx, element) in elements.iter().enumerate() {
        push_separator(idx, inner, json);
        push_value(element, inner, json);
    }
    push_line_break(indent.filter(|_| !elements.is_empty()), json);
    json.push(']');
}

fn push_object(members: &Map<String, Value>, indent: Option<usize>, json: &mut String) {
    let inner = indent.map(|depth| depth + 1);
    json.push('{');
    for (idx, (name, value)) in members.iter().enumerate() {
        push_separator(idx, inner, json);
        push_text(name, json);
        json.push_str(if indent.is_some() { ": " } else { ":" });
        push_value(value, inner, json);
    }
    push_line_break(indent.filter(|_| !members.is_empty()), json);
    json.push('}');
}

fn push_separator(idx: usize, indent: Option<usize>, json: &mut String) {
    json.push_str(if idx == 0 { "" } else { "," });
    push_line_break(indent, json);
}

fn push_line_break(indent: Option<usize>, json: &mut String) {
    if let Some(depth) = indent {
        json.push('\n');
        json.extend(std::iter::repeat_n("  ", depth));
    }
}

/// Appends a string.
pub(crate) fn push_text(text: &str, json: &mut String) {
    let mut special = CharSearch::<Special>::of(text.as_bytes());
    let mut from = 0;
    json.reserve(text.len() + 2);
    json.push('"');
    loop {
        let at = special.next(from);
        json.push_str(&text[from..at]);
        let Some(sign) = text.as_bytes().get(at) else {
            break;
        };
        match sign {
            b'"' => json.push_str("\\\""),
            b'\\' => json.push_str("\\\\"),
            b'\n' => json.push_str("\\n"),
            b'\r' => json.push_str("\\r"),
            b'\t' => json.push_str("\\t"),
            0x8 => json.push_str("\\b"),
            0xc => json.push_str("\\f"),
            sign => _ = write!(json, "\\u{sign:04x}"),
        }
        from = at + 1;
    }
    json.push('"');
}
