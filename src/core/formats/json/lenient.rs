//! Parses JSON values. Replaces text that no `String` can hold.

use crate::json::{self, Value};
use crate::session::Span;

/// Parses a value. Lone surrogates, which no `String` can hold, and bytes that are not UTF-8 become U+FFFD.
pub(crate) fn parse_lenient(text: &[u8]) -> Result<Value, serde_json::Error> {
    json::from_slice(text).or_else(|error| {
        if error.is_eof() {
            return Err(error);
        }
        let mut text = String::from_utf8_lossy(text).into_owned().into_bytes();
        replace_lone_surrogates(&mut text);
        json::from_slice(&text)
    })
}

/// Parses the value at `span`, see [`parse_lenient`].
pub(crate) fn parse_span(bytes: &[u8], span: &Span) -> Option<Value> {
    parse_lenient(bytes.get(span.clone())?).ok()
}

/// Replaces escapes of lone surrogates by U+FFFD, whose escape has the same length.
fn replace_lone_surrogates(text: &mut [u8]) {
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'\\' {
            at += 1;
            continue;
        }
        match (surrogate(text, at), surrogate(text, at + 6)) {
            (Some(true), Some(false)) => at += 12,
            (Some(_), _) => {
                text[at..at + 6].copy_from_slice(b"\\ufffd");
                at += 6;
            }
            (None, _) => at += 2,
        }
    }
}

/// Returns whether the escape at `at` is a leading (true) or trailing surrogate, or `None` for any other text.
fn surrogate(text: &[u8], at: usize) -> Option<bool> {
    let escape = text.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    match u32::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(true),
        0xdc00..=0xdfff => Some(false),
        _ => None,
    }
}
