//! JSON as text with places: where a value stands in the file, and small ways to ask a value for what it holds.

use crate::progress::{Cancelled, Progress};
use crate::session::Span;
use crate::units::Millis;
use rayon::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Map, Number, Value};

/// Values from this size on are parsed in pieces.
const LARGE: usize = 1 << 20;
/// How deep pieces are taken apart: a list of conversations, one of them, its request, the messages.
const PIECES_WITHIN: usize = 4;
/// A value holds no more others. Each is kept as far more than the two bytes that `{}` takes in a file.
const MOST_VALUES: usize = 16_000_000;
/// How often a document is parsed in all: to tell what it is, and for its messages.
pub(super) const DOCUMENT_PASSES: u64 = 2;

/// Parses a value. Half of a surrogate pair, which no `String` can hold, and bytes that are not UTF-8 read as
/// U+FFFD.
pub(super) fn parse_lenient(text: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(text).or_else(|error| {
        if error.is_eof() {
            return Err(error);
        }
        let mut text = String::from_utf8_lossy(text).into_owned().into_bytes();
        replace_lone_surrogates(&mut text);
        serde_json::from_slice(&text)
    })
}

/// Parses the value that stands at `span`; see [`parse_lenient`].
pub(super) fn parse_span(bytes: &[u8], span: &Span) -> Option<Value> {
    parse_lenient(bytes.get(span.clone())?).ok()
}

/// Whether a text holds more values than any session does, told by the commas between them.
pub(super) fn is_crowded(text: &[u8]) -> bool {
    // Most are too short, or have too few even with those in strings, which are found quickly.
    let is_comma = |b: &&u8| **b == b',';
    text.len() > MOST_VALUES
        && text.iter().filter(is_comma).count() > MOST_VALUES
        && commas_between(text) > MOST_VALUES
}

/// Commas outside of strings.
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

/// What is said of such a text.
pub(super) fn crowded() -> String {
    let most = MOST_VALUES / 1_000_000;
    format!("it holds more than {most} million values, which no session does")
}

/// Whether a text is one value and nothing else; neither its strings nor its depth are looked at.
pub(super) fn is_one_value(text: &[u8]) -> bool {
    let mut stream = Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    matches!(stream.next(), Some(Ok(_))) && stream.byte_offset() == text.len()
}

/// Parses the value of a whole document, a large one in pieces on all cores; see [`parse_lenient`]. Advances
/// `progress` by its share of the bytes.
pub(super) fn parse_document(
    bytes: &[u8],
    span: &Span,
    progress: &Progress,
) -> Result<Result<Value, serde_json::Error>, Cancelled> {
    let text = &bytes[span.clone()];
    if text.len() >= LARGE
        && is_one_value(text)
        && let Some(value) = in_pieces(bytes, span, PIECES_WITHIN, progress)?
    {
        return Ok(Ok(value));
    }
    progress.go_on()?;
    Ok(parse_lenient(text))
}

/// `None` where a piece cannot be parsed.
fn in_pieces(
    bytes: &[u8],
    span: &Span,
    within: usize,
    progress: &Progress,
) -> Result<Option<Value>, Cancelled> {
    progress.go_on()?;
    if within == 0 || span.len() < LARGE {
        progress.advance(span.len() as u64 / DOCUMENT_PASSES);
        return Ok(parse_span(bytes, span));
    }
    let piece = |span: &Span| in_pieces(bytes, span, within - 1, progress);
    if let Some(items) = elements(bytes, span) {
        let items: Vec<_> = items.par_iter().map(piece).collect::<Result<_, _>>()?;
        return Ok(items
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .map(Value::Array));
    }
    if let Some(members) = members(bytes, span) {
        let member = |(key, span): (String, Span)| Ok(piece(&span)?.map(|value| (key, value)));
        let members: Vec<_> = members
            .into_iter()
            .map(member)
            .collect::<Result<_, Cancelled>>()?;
        return Ok(members
            .into_iter()
            .collect::<Option<Map<_, _>>>()
            .map(Value::Object));
    }
    Ok(parse_span(bytes, span))
}

/// Where the one value of a whole file stands: without a byte order mark and white space.
pub(super) fn document_span(bytes: &[u8]) -> Span {
    let text = &bytes[super::jsonl::text_start(bytes)..];
    let start = bytes.len() - text.trim_ascii_start().len();
    start..start + text.trim_ascii().len()
}

/// Where the elements of the array at `span` stand; `None` if it is no array.
pub(super) fn elements(bytes: &[u8], span: &Span) -> Option<Vec<Span>> {
    let mut at = open(bytes, span, b'[')?;
    let mut found = Vec::new();
    loop {
        at = skip_space(bytes, at);
        match bytes.get(at)? {
            b']' => return Some(found),
            b',' => at += 1,
            _ => {
                let end = value_end(bytes, at)?;
                found.push(at..end);
                at = end;
            }
        }
    }
}

/// Where the members of the object at `span` stand, keys decoded; `None` if it is no object.
pub(super) fn members(bytes: &[u8], span: &Span) -> Option<Vec<(String, Span)>> {
    let mut at = open(bytes, span, b'{')?;
    let mut found = Vec::new();
    loop {
        at = skip_space(bytes, at);
        match bytes.get(at)? {
            b'}' => return Some(found),
            b',' => at += 1,
            _ => {
                let key_end = value_end(bytes, at)?;
                let key = parse_span(bytes, &(at..key_end))?.as_str()?.to_owned();
                let colon = skip_space(bytes, key_end);
                if bytes.get(colon) != Some(&b':') {
                    return None;
                }
                let start = skip_space(bytes, colon + 1);
                at = value_end(bytes, start)?;
                found.push((key, start..at));
            }
        }
    }
}

/// Where a member of the object at `span` stands. As everywhere, the last of equal keys counts.
pub(super) fn member(bytes: &[u8], span: &Span, key: &str) -> Option<Span> {
    members(bytes, span)?
        .into_iter()
        .rev()
        .find(|(name, _)| name == key)
        .map(|(_, span)| span)
}

/// The value at the end of a path of keys.
pub(super) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// A string.
pub(super) fn str_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// The first text at a path of the values that stand at these places, of which only the first few are looked at.
pub(super) fn first_str<'a>(
    bytes: &[u8],
    spans: impl Iterator<Item = &'a Span>,
    path: &[&str],
) -> Option<String> {
    const FEW: usize = 8;
    let text = |span| Some(str_at(&parse_span(bytes, span)?, path)?.to_owned());
    spans.take(FEW).find_map(text)
}

/// Whether there stands `true`.
pub(super) fn is_true(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool) == Some(true)
}

/// A count, also where it is written `1e3` or `12.0`.
pub(super) fn u64_at(value: &Value, path: &[&str]) -> Option<u64> {
    at(value, path)?.as_number().and_then(u64_of)
}

/// The same of a number.
pub(super) fn u64_of(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        number
            .as_f64()
            .filter(|n| n.is_finite() && *n >= 0.0)
            .map(|n| n.round() as u64)
    })
}

/// A time; see [`super::time::millis`].
pub(super) fn millis_at(value: &Value, path: &[&str]) -> Option<Millis> {
    at(value, path).and_then(super::time::millis)
}

/// A name out of a file as a message for people quotes it: of a length that can be read.
pub(super) fn quoted(name: &str) -> String {
    const CHARS: usize = 60;
    let mut chars = name.chars();
    let mut short: String = chars.by_ref().take(CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// The text of a content: a string, or blocks of which those with a `text` speak, one a line.
pub(super) fn text_of(content: &Value) -> String {
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

/// Where the first value inside of brackets may stand.
fn open(bytes: &[u8], span: &Span, bracket: u8) -> Option<usize> {
    let at = skip_space(bytes, span.start);
    (bytes.get(at) == Some(&bracket)).then_some(at + 1)
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_ascii_start().len()
}

/// Where the value that starts at `start` ends.
fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..)?;
    if matches!(rest.first()?, b'{' | b'[' | b'"') {
        let mut stream = Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        stream.next()?.ok()?;
        return Some(start + stream.byte_offset());
    }
    let is_end = |b: &u8| matches!(b, b',' | b']' | b'}') || b.is_ascii_whitespace();
    let len = rest.iter().position(is_end).unwrap_or(rest.len());
    (len > 0).then_some(start + len)
}

/// Writes U+FFFD over escapes that are half of a surrogate pair; both are six bytes long.
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

/// Whether a surrogate's escape stands at `at`: the leading half or the trailing one.
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
    use serde_json::json;

    #[test]
    fn elements_and_members_stand_where_their_text_is() {
        let bytes = br#"  {"a" : [1, "x,]", {"b":[]} ,null], "a\u0062":-2.5e3, "a": [ ] }"#;
        let text = |span: &Span| {
            std::str::from_utf8(&bytes[span.clone()])
                .unwrap()
                .to_owned()
        };
        let document = document_span(bytes);
        let found: Vec<_> = members(bytes, &document)
            .unwrap()
            .iter()
            .map(|(k, s)| (k.clone(), text(s)))
            .collect();
        let expected = [
            ("a", r#"[1, "x,]", {"b":[]} ,null]"#),
            ("ab", "-2.5e3"),
            ("a", "[ ]"),
        ];
        assert_eq!(found, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
        let first = members(bytes, &document).unwrap().remove(0).1;
        let items: Vec<_> = elements(bytes, &first).unwrap().iter().map(text).collect();
        assert_eq!(items, ["1", "\"x,]\"", "{\"b\":[]}", "null"]);
        assert_eq!(
            member(bytes, &document, "a").map(|s| text(&s)).as_deref(),
            Some("[ ]")
        );
        assert_eq!(member(bytes, &document, "c"), None);
        assert_eq!(elements(bytes, &document), None);
    }

    #[test]
    fn commas_count_where_they_stand_between_values() {
        let text = br#"[1,"a,\",",{"b,":[",\\",{}]}]"#;
        assert_eq!(commas_between(text), 3);
        let text = ",".repeat(MOST_VALUES + 2);
        assert!(is_crowded(text.as_bytes()));
        assert!(!is_crowded(format!("\"{text}\"").as_bytes()));
    }

    #[test]
    fn torn_text_has_no_elements() {
        for torn in ["[1, 2", "[{\"a\":", "[\"x", "[", ""] {
            assert_eq!(elements(torn.as_bytes(), &(0..torn.len())), None, "{torn}");
        }
        assert_eq!(members(b"{\"a\" 1}", &(0..7)), None);
    }

    #[test]
    fn a_large_document_in_pieces_is_the_same_value() {
        let long = "x".repeat(LARGE / 2);
        let text = format!(
            r#" {{"a":1,"m":{{"messages":[{{"c":"{long}"}},"{long}\ud83d",[1.50,null]]}},"a":{{"b":-2e3}}}} "#
        );
        let span = document_span(text.as_bytes());
        let progress = Progress::default();
        let value = parse_document(text.as_bytes(), &span, &progress).unwrap();
        assert_eq!(value.unwrap(), parse_lenient(text.as_bytes()).unwrap());
        let torn = &text.as_bytes()[..text.len() - 3];
        let torn_span = document_span(torn);
        assert!(
            parse_document(torn, &torn_span, &progress)
                .unwrap()
                .is_err()
        );
        progress.cancel();
        assert_eq!(
            parse_document(text.as_bytes(), &span, &progress).err(),
            Some(Cancelled)
        );
    }

    #[test]
    fn counts_read_however_they_are_written() {
        let value: Value = serde_json::from_str(
            r#"{"a":[0], "n":{"i":12,"f":12.0,"e":1e3,"neg":-1,"huge":1e400}}"#,
        )
        .unwrap();
        let read = |key| u64_at(&value, &["n", key]);
        assert_eq!(
            [
                read("i"),
                read("f"),
                read("e"),
                read("neg"),
                read("huge"),
                read("none")
            ],
            [Some(12), Some(12), Some(1000), None, None, None]
        );
    }

    #[test]
    fn the_text_of_a_content_is_that_of_its_blocks() {
        assert_eq!(text_of(&json!("a")), "a");
        assert_eq!(
            text_of(&json!([{"type":"text","text":"a"},{"type":"image"},"b"])),
            "a\nb"
        );
        assert_eq!(text_of(&json!(null)), "");
    }
}
