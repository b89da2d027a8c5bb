//! JSON as text with places: where a value stands in the file, and small ways to ask a value for what it holds.

use crate::session::Span;
use crate::units::{Millis, Tokens};
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

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

/// Whether there stands `true`.
pub(super) fn is_true(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool) == Some(true)
}

/// A count, also where it is written `1e3` or `12.0`.
pub(super) fn u64_at(value: &Value, path: &[&str]) -> Option<u64> {
    let number = at(value, path)?.as_number()?;
    number.as_u64().or_else(|| {
        number
            .as_f64()
            .filter(|n| n.is_finite() && *n >= 0.0)
            .map(|n| n.round() as u64)
    })
}

/// A count of tokens.
pub(super) fn tokens_at(value: &Value, path: &[&str]) -> Option<Tokens> {
    u64_at(value, path).map(Tokens)
}

/// A time; see [`super::time::millis`].
pub(super) fn millis_at(value: &Value, path: &[&str]) -> Option<Millis> {
    at(value, path).and_then(super::time::millis)
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
    fn torn_text_has_no_elements() {
        for torn in ["[1, 2", "[{\"a\":", "[\"x", "[", ""] {
            assert_eq!(elements(torn.as_bytes(), &(0..torn.len())), None, "{torn}");
        }
        assert_eq!(members(b"{\"a\" 1}", &(0..7)), None);
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
