//! Changing single values of a JSON text and keeping every other byte.

use crate::formats::json;
use crate::session::Span;

/// One change to a text: these bytes become those.
pub(in crate::formats) type Patch = (Span, Vec<u8>);

/// The value at a path of members.
pub(in crate::formats) fn at_path(bytes: &[u8], span: &Span, path: &[&str]) -> Option<Span> {
    path.iter()
        .try_fold(span.clone(), |here, key| json::member(bytes, &here, key))
}

/// The value at a path of members, if it is an object.
pub(in crate::formats) fn object_at(bytes: &[u8], span: &Span, path: &[&str]) -> Option<Span> {
    at_path(bytes, span, path).filter(|found| bytes.get(found.start) == Some(&b'{'))
}

/// The elements of the array at a path of members.
pub(in crate::formats) fn array_at(bytes: &[u8], span: &Span, path: &[&str]) -> Option<Vec<Span>> {
    json::elements(bytes, &at_path(bytes, span, path)?)
}

/// Patches that take members out of the object at `span`, each with one comma.
pub(in crate::formats) fn without_members(bytes: &[u8], span: &Span, keys: &[&str]) -> Vec<Patch> {
    let members = json::members(bytes, span).unwrap_or_default();
    let gone: Vec<bool> = members
        .iter()
        .map(|(key, _)| keys.contains(&key.as_str()))
        .collect();
    let mut before = span.start + 1;
    let mut spans = Vec::with_capacity(members.len());
    for (_, value) in members {
        let is_between = |b: &u8| b.is_ascii_whitespace() || *b == b',';
        let space = bytes[before..value.start]
            .iter()
            .take_while(|b| is_between(b))
            .count();
        spans.push(before + space..value.end);
        before = value.end;
    }
    without(&spans, &gone)
}

/// Patches that take the elements out of the list of `spans` that are `gone`, each with one comma.
pub(in crate::formats) fn without(spans: &[Span], gone: &[bool]) -> Vec<Patch> {
    let first_left = gone.iter().position(|g| !g);
    let mut patches = Vec::new();
    for (idx, span) in spans.iter().enumerate().filter(|(idx, _)| gone[*idx]) {
        let hole = match first_left {
            // Before the first that stays: up to the next one, so that its comma goes along.
            Some(first) if idx < first => span.start..spans[idx + 1].start,
            // After it: from the end of the one before.
            _ if idx > 0 => spans[idx - 1].end..span.end,
            _ => span.clone(),
        };
        patches.push((hole, Vec::new()));
    }
    patches
}

/// A patch that puts a member first into the object at `span`.
pub(in crate::formats) fn with_member(bytes: &[u8], span: &Span, key: &str, value: &[u8]) -> Patch {
    let is_empty = json::members(bytes, span).is_none_or(|m| m.is_empty());
    let mut text = [quoted(key), b": ".to_vec(), value.to_vec()].concat();
    if !is_empty {
        text.extend_from_slice(b", ");
    }
    (span.start + 1..span.start + 1, text)
}

/// The text of `span` with the patches made. Patches outside of it or overlapping an earlier one are left out.
pub(in crate::formats) fn patched(bytes: &[u8], span: &Span, mut patches: Vec<Patch>) -> Vec<u8> {
    patches.sort_by_key(|(place, _)| (place.start, place.end));
    let mut out = Vec::with_capacity(span.len());
    let mut at = span.start;
    for (place, text) in patches {
        if place.start < at || place.end > span.end {
            continue;
        }
        out.extend_from_slice(&bytes[at..place.start]);
        out.extend_from_slice(&text);
        at = place.end;
    }
    out.extend_from_slice(&bytes[at..span.end]);
    out
}

/// A text as a JSON string.
pub(in crate::formats) fn quoted(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_elements_out_leaves_a_valid_list() {
        let bytes = b"[1, 2 ,3,4]";
        let spans = json::elements(bytes, &(0..bytes.len())).unwrap();
        for mask in 0..16_u8 {
            let gone: Vec<bool> = (0..4).map(|bit| mask >> bit & 1 == 1).collect();
            let out = patched(bytes, &(0..bytes.len()), without(&spans, &gone));
            let left: Vec<u8> = serde_json::from_slice(&out).unwrap();
            let expected: Vec<u8> = (1..=4).filter(|n| !gone[usize::from(n - 1)]).collect();
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn taking_members_out_keeps_the_others_bytes() {
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
    fn a_member_is_put_in_first() {
        for (object, expected) in [("{}", r#"{"k": 1}"#), (r#"{"a":2}"#, r#"{"k": 1, "a":2}"#)] {
            let whole = 0..object.len();
            let patch = with_member(object.as_bytes(), &whole, "k", b"1");
            assert_eq!(
                patched(object.as_bytes(), &whole, vec![patch]),
                expected.as_bytes()
            );
        }
    }
}
