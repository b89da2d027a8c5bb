//! Operations of JavaScript on texts and values. Systems written in JavaScript depend on them.

use crate::json::Value;

/// Returns the length of a text as JavaScript counts it, in UTF-16 units.
pub(crate) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Returns the first `n` units of a text. A character of two units is kept whole or omitted.
pub(crate) fn first_units(text: &str, n: usize) -> &str {
    let mut units = 0;
    let end = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > n
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// Returns the last `n` units of a text. A character of two units is kept whole or omitted.
pub(crate) fn last_units(text: &str, n: usize) -> &str {
    let mut units = 0;
    let before = text.char_indices().rev().find(|(_, c)| {
        units += c.len_utf16();
        units > n
    });
    before.map_or(text, |(at, c)| &text[at + c.len_utf8()..])
}

/// Returns the arguments as `name=JSON` pairs, joined by commas.
pub(crate) fn named_arguments(arguments: &Value) -> String {
    let pairs = arguments.as_object().into_iter().flatten();
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(", ")
}
