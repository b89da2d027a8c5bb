//! Byte ranges of values in a text: elements of lists, members of objects.
//!
//! A scan over one level finds where each value ends without building it: `serde_json` skips strings and nested values,
//! and any other value ends at the next delimiter. Only the spans that a caller needs are parsed later.

use super::parse_span;
use crate::formats::byte_order_mark::text_start;
use crate::session::Span;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// Returns the byte range of a document's value, without a byte order mark and surrounding whitespace.
pub(crate) fn document_span(bytes: &[u8]) -> Span {
    let text = &bytes[text_start(bytes)..];
    let start = bytes.len() - text.trim_ascii_start().len();
    start..start + text.trim_ascii().len()
}

/// Returns the byte ranges of the elements of the array at `span`, or `None` if it is not an array.
pub(crate) fn elements(bytes: &[u8], span: &Span) -> Option<Vec<Span>> {
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

/// Returns the decoded keys and byte ranges of the members of the object at `span`, or `None` if it is not an object.
pub(crate) fn members(bytes: &[u8], span: &Span) -> Option<Vec<(String, Span)>> {
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

/// Returns the byte range of a member of the object at `span`, the last one if the key occurs several times.
pub(crate) fn member(bytes: &[u8], span: &Span, key: &str) -> Option<Span> {
    members(bytes, span)?.into_iter().rev().find(|(name, _)| name == key).map(|(_, span)| span)
}

/// Returns the position after an opening bracket.
fn open(bytes: &[u8], span: &Span, bracket: u8) -> Option<usize> {
    let at = skip_space(bytes, span.start);
    (bytes.get(at) == Some(&bracket)).then_some(at + 1)
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_ascii_start().len()
}

/// Returns the end of the value that starts at `start`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_ranges_of_elements_and_members() {
        let bytes = br#"  {"a" : [1, "x,]", {"b":[]} ,null], "a\u0062":-2.5e3, "a": [ ] }"#;
        let text = |span: &Span| std::str::from_utf8(&bytes[span.clone()]).unwrap().to_owned();
        let document = document_span(bytes);
        let found: Vec<_> =
            members(bytes, &document).unwrap().iter().map(|(k, s)| (k.clone(), text(s))).collect();
        let expected = [("a", r#"[1, "x,]", {"b":[]} ,null]"#), ("ab", "-2.5e3"), ("a", "[ ]")];
        assert_eq!(found, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
        let first = members(bytes, &document).unwrap().remove(0).1;
        let items: Vec<_> = elements(bytes, &first).unwrap().iter().map(text).collect();
        assert_eq!(items, ["1", "\"x,]\"", "{\"b\":[]}", "null"]);
        assert_eq!(member(bytes, &document, "a").map(|s| text(&s)).as_deref(), Some("[ ]"));
        assert_eq!(member(bytes, &document, "c"), None);
        assert_eq!(elements(bytes, &document), None);
    }

    #[test]
    fn returns_nothing_for_truncated_text() {
        for torn in ["[1, 2", "[{\"a\":", "[\"x", "[", ""] {
            assert_eq!(elements(torn.as_bytes(), &(0..torn.len())), None, "{torn}");
        }
        assert_eq!(members(b"{\"a\" 1}", &(0..7)), None);
    }
}
