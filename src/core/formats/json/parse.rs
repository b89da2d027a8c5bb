//! Parses JSON documents. Large ones are parsed in pieces on all cores.

use super::{elements, members, parse_lenient, parse_span};
use crate::json::{Map, Value};
use crate::progress::{Cancelled, Progress};
use crate::session::Span;
use memchr::memchr_iter;
use rayon::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// Minimum size in bytes of a value that is parsed in pieces.
// Chosen: parsing a megabyte takes milliseconds. Finding the pieces is a pass of its own, which smaller values would
// pay without keeping the other cores busy.
pub(crate) const LARGE: usize = 1 << 20;

/// Maximum depth of pieces: a list of conversations, a conversation, its request, the messages.
const PIECES_WITHIN: usize = 4;

/// Maximum number of values in a text. In memory each takes far more than the two bytes of `{}`.
// Chosen: a chat of a million messages has two to five million. Double would let a hostile text of 32 MB take
// gigabytes.
const MAX_VALUES: usize = 16_000_000;

/// Number of times that a document is parsed: for detection and for its messages.
pub(crate) const DOCUMENT_PASSES: u64 = 2;

/// Returns whether a text has too many values, estimated by the commas between them.
pub(crate) fn has_too_many_values(text: &[u8]) -> bool {
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
pub(crate) fn too_many_values() -> String {
    let most = MAX_VALUES / 1_000_000;
    format!("it has more than {most} million values, more than any session")
}

/// Returns whether a text is exactly one value. Checks neither strings nor depth.
pub(crate) fn is_one_value(text: &[u8]) -> bool {
    let mut stream = Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    matches!(stream.next(), Some(Ok(_))) && stream.byte_offset() == text.len()
}

/// Parses the value of a whole document, see [`parse_lenient`]. A large document is parsed in pieces on all cores.
/// Keeps the first `most` elements of each large list. Advances `progress` by its share of the bytes.
pub(crate) fn parse_document(
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
