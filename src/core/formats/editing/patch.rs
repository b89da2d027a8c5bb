//! Changes single values of a JSON text and keeps every other byte.
//!
//! A patch is a byte span and the text that replaces it. All patches of a text are applied in one pass from its start,
//! which copies the bytes between them.

use crate::formats::json;
use crate::session::Span;

/// A change to a text: a byte span and its replacement.
pub(crate) type Patch = (Span, Vec<u8>);

/// Returns the span of the value at a path of members.
pub(crate) fn at_path(bytes: &[u8], span: &Span, path: &[&str]) -> Option<Span> {
    path.iter().try_fold(span.clone(), |here, key| json::member(bytes, &here, key))
}

/// Returns the span of the object at a path of members.
pub(crate) fn object_at(bytes: &[u8], span: &Span, path: &[&str]) -> Option<Span> {
    at_path(bytes, span, path).filter(|found| bytes.get(found.start) == Some(&b'{'))
}

/// Returns the spans of the elements of the array at a path of members.
pub(crate) fn array_at(bytes: &[u8], span: &Span, path: &[&str]) -> Option<Vec<Span>> {
    json::elements(bytes, &at_path(bytes, span, path)?)
}

/// Returns patches that remove members from the object at `span`, each with one comma.
pub(crate) fn without_members(bytes: &[u8], span: &Span, keys: &[&str]) -> Vec<Patch> {
    let members = json::members(bytes, span).unwrap_or_default();
    let removed: Vec<bool> = members.iter().map(|(key, _)| keys.contains(&key.as_str())).collect();
    let mut before = span.start + 1;
    let mut spans = Vec::with_capacity(members.len());
    for (_, value) in members {
        let is_between = |b: &u8| b.is_ascii_whitespace() || *b == b',';
        let space = bytes[before..value.start].iter().take_while(|b| is_between(b)).count();
        spans.push(before + space..value.end);
        before = value.end;
    }
    without_elements(&spans, &removed)
}

/// Returns patches that remove the marked elements from a list, each with one comma.
pub(crate) fn without_elements(spans: &[Span], removed: &[bool]) -> Vec<Patch> {
    let first_left = removed.iter().position(|g| !g);
    let mut patches = Vec::new();
    for (idx, span) in spans.iter().enumerate().filter(|(idx, _)| removed[*idx]) {
        let range = match first_left {
            // Before the first remaining element: up to the next element, to include the comma.
            Some(first) if idx < first => span.start..spans[idx + 1].start,
            // After it: from the end of the previous element.
            _ if idx > 0 => spans[idx - 1].end..span.end,
            _ => span.clone(),
        };
        patches.push((range, Vec::new()));
    }
    patches
}

/// Returns a patch that inserts a member at the beginning of the object at `span`.
pub(crate) fn with_member(bytes: &[u8], span: &Span, key: &str, value: &[u8]) -> Patch {
    let is_empty = json::members(bytes, span).is_none_or(|m| m.is_empty());
    let mut text = [json_string(key), b": ".to_vec(), value.to_vec()].concat();
    if !is_empty {
        text.extend_from_slice(b", ");
    }
    (span.start + 1..span.start + 1, text)
}

/// Returns the text of `span` with the patches applied. Skips patches outside of it and overlapping patches.
pub(crate) fn patched(bytes: &[u8], span: &Span, mut patches: Vec<Patch>) -> Vec<u8> {
    patches.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = Vec::with_capacity(span.len());
    let mut at = span.start;
    for (range, text) in patches {
        if range.start < at || range.end > span.end {
            continue;
        }
        out.extend_from_slice(&bytes[at..range.start]);
        out.extend_from_slice(&text);
        at = range.end;
    }
    out.extend_from_slice(&bytes[at..span.end]);
    out
}

/// Serializes a text as a JSON string.
pub(crate) fn json_string(text: &str) -> Vec<u8> {
    crate::json::Value::from(text).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_elements_leaves_a_valid_list() {
        let bytes = b"[1, 2 ,3,4]";
        let spans = json::elements(bytes, &(0..bytes.len())).unwrap();
        for mask in 0..16_u8 {
            let removed: Vec<bool> = (0..4).map(|bit| mask >> bit & 1 == 1).collect();
            let out = patched(bytes, &(0..bytes.len()), without_elements(&spans, &removed));
            let left: Vec<u8> = serde_json::from_slice(&out).unwrap();
            let expected: Vec<u8> = (1..=4).filter(|n| !removed[usize::from(n - 1)]).collect();
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn removing_members_keeps_the_bytes_of_the_others() {
        let bytes = br#"{ "a" :1, "b": [2] , "c":3.10}"#;
        let whole = 0..bytes.len();
        let without = |keys: &[&str]| {
            String::from_utf8(patched(bytes, &whole, without_members(bytes, &whole, keys))).unwrap()
        };
        assert_eq!(without(&["b"]), r#"{ "a" :1 , "c":3.10}"#);
        assert_eq!(without(&["a"]), r#"{ "b": [2] , "c":3.10}"#);
        assert_eq!(without(&["b", "c"]), r#"{ "a" :1}"#);
        assert_eq!(without(&["a", "b", "c"]), "{ }");
    }

    #[test]
    fn replaces_only_the_given_ranges() {
        let patches = vec![(0..1, b"A".to_vec()), (2..2, b"-".to_vec())];
        assert_eq!(patched(b"abcd", &(0..4), patches), b"Ab-cd");
    }

    #[test]
    fn inserts_a_member_at_the_beginning() {
        for (object, expected) in [("{}", r#"{"k": 1}"#), (r#"{"a":2}"#, r#"{"k": 1, "a":2}"#)] {
            let whole = 0..object.len();
            let patch = with_member(object.as_bytes(), &whole, "k", b"1");
            assert_eq!(patched(object.as_bytes(), &whole, vec![patch]), expected.as_bytes());
        }
    }
}
