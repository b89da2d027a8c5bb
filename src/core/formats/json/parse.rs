//! Parses JSON values. Text that no `String` can hold is replaced, and large documents are parsed in pieces on all
//! cores.

use super::{elements, members};
use crate::progress::{Cancelled, Progress};
use crate::session::Span;
use memchr::memchr_iter;
use rayon::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Map, Value};

/// Minimum size in bytes of a value that is parsed in pieces.
pub(in crate::formats) const LARGE: usize = 1 << 20;

/// Maximum depth of pieces: a list of conversations, a conversation, its request, the messages.
const PIECES_WITHIN: usize = 4;

/// Maximum number of values in a text. In memory each takes far more than the two bytes of `{}`.
const MAX_VALUES: usize = 16_000_000;

/// Number of times that a document is parsed: for detection and for its messages.
pub(in crate::formats) const DOCUMENT_PASSES: u64 = 2;

/// Parses a value. Lone surrogates, which no `String` can hold, and bytes that are not UTF-8 become U+FFFD.
pub(in crate::formats) fn parse_lenient(text: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(text).or_else(|error| {
        if error.is_eof() {
            return Err(error);
        }
        let mut text = String::from_utf8_lossy(text).into_owned().into_bytes();
        replace_lone_surrogates(&mut text);
        serde_json::from_slice(&text)
    })
}

/// Parses the value at `span`, see [`parse_lenient`].
pub(in crate::formats) fn parse_span(bytes: &[u8], span: &Span) -> Option<Value> {
    parse_lenient(bytes.get(span.clone())?).ok()
}

/// Whether a text has too many values, estimated by the commas between them.
pub(in crate::formats) fn has_too_many_values(text: &[u8]) -> bool {
    // A fast check first: most texts are too short or have too few commas even with those in strings.
    text.len() > MAX_VALUES
        && memchr_iter(b',', text).count() > MAX_VALUES
        && commas_between(text) > MAX_VALUES
}

/// Counts the commas outside strings.
fn commas_between(text: &[u8]) -> usize {
    let (mut commas, mut in_string, mut is_escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b',' => commas += usize::from(!in_string),
            _ => {}
        }
    }
    commas
}

/// Returns the message for a text with too many values.
pub(in crate::formats) fn too_many_values() -> String {
    let most = MAX_VALUES / 1_000_000;
    format!("it has more than {most} million values, more than any session")
}

/// Whether a text is exactly one value. Checks neither strings nor depth.
pub(in crate::formats) fn is_one_value(text: &[u8]) -> bool {
    let mut stream = Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    matches!(stream.next(), Some(Ok(_))) && stream.byte_offset() == text.len()
}

/// Parses the value of a whole document, see [`parse_lenient`]. A large document is parsed in pieces on all cores.
/// Keeps the first `most` elements of each large list. Advances `progress` by its share of the bytes.
pub(in crate::formats) fn parse_document(
    bytes: &[u8],
    span: &Span,
    most: usize,
    progress: &Progress,
) -> Result<Result<Value, serde_json::Error>, Cancelled> {
    let text = &bytes[span.clone()];
    if text.len() >= LARGE
        && is_one_value(text)
        && let Some(value) = in_pieces(bytes, span, (most, PIECES_WITHIN), progress)?
    {
        return Ok(Ok(value));
    }
    progress.check_cancelled()?;
    Ok(parse_lenient(text))
}

/// Parses a value in pieces. Returns `None` if a piece cannot be parsed.
fn in_pieces(
    bytes: &[u8],
    span: &Span,
    (most, within): (usize, usize),
    progress: &Progress,
) -> Result<Option<Value>, Cancelled> {
    progress.check_cancelled()?;
    if within == 0 || span.len() < LARGE {
        progress.advance(span.len() as u64 / DOCUMENT_PASSES);
        return Ok(parse_span(bytes, span));
    }
    let piece = |span: &Span| in_pieces(bytes, span, (most, within - 1), progress);
    if let Some(items) = elements(bytes, span) {
        let (kept, left_out) = items.split_at(items.len().min(most));
        let n_bytes = left_out.iter().map(|span| span.len() as u64).sum::<u64>();
        progress.advance(n_bytes / DOCUMENT_PASSES);
        let items: Vec<_> = kept.par_iter().map(piece).collect::<Result<_, _>>()?;
        return Ok(items.into_iter().collect::<Option<Vec<_>>>().map(Value::Array));
    }
    if let Some(members) = members(bytes, span) {
        let member = |(key, span): (String, Span)| Ok(piece(&span)?.map(|value| (key, value)));
        let members: Vec<_> = members.into_iter().map(member).collect::<Result<_, Cancelled>>()?;
        return Ok(members.into_iter().collect::<Option<Map<_, _>>>().map(Value::Object));
    }
    Ok(parse_span(bytes, span))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::json::document_span;

    #[test]
    fn counts_commas_outside_strings() {
        let text = br#"[1,"a,\",",{"b,":[",\\",{}]}]"#;
        assert_eq!(commas_between(text), 3);
        let text = ",".repeat(MAX_VALUES + 2);
        assert!(has_too_many_values(text.as_bytes()));
        assert!(!has_too_many_values(format!("\"{text}\"").as_bytes()));
    }

    #[test]
    fn parses_large_documents_in_pieces_to_the_same_value() {
        let long = "x".repeat(LARGE / 2);
        let text = format!(
            r#" {{"a":1,"m":{{"messages":[{{"c":"{long}"}},"{long}\ud83d",[1.50,null]]}},"a":{{"b":-2e3}}}} "#
        );
        let span = document_span(text.as_bytes());
        let progress = Progress::default();
        let value = parse_document(text.as_bytes(), &span, usize::MAX, &progress).unwrap();
        assert_eq!(value.unwrap(), parse_lenient(text.as_bytes()).unwrap());
        let short = parse_document(text.as_bytes(), &span, 1, &progress).unwrap();
        assert_eq!(short.unwrap()["m"]["messages"].as_array().map(Vec::len), Some(1));
        let torn = &text.as_bytes()[..text.len() - 3];
        let torn_span = document_span(torn);
        assert!(parse_document(torn, &torn_span, usize::MAX, &progress).unwrap().is_err());
        progress.cancel();
        assert_eq!(
            parse_document(text.as_bytes(), &span, usize::MAX, &progress).err(),
            Some(Cancelled)
        );
    }
}
