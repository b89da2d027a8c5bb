//! Writes JSON Lines, and replaces ids in them.

use crate::formats::editing::{Patch, json_string};
use crate::json::Value;
use crate::session::Span;
use std::fmt::Write as _;

/// Serialized records, one per line. Kept as text because values need several times the memory.
#[derive(Default)]
pub(in crate::formats) struct JsonLines(String);

impl JsonLines {
    /// Adds a record.
    pub(in crate::formats) fn push(&mut self, record: &Value) {
        let _ = writeln!(self.0, "{record}");
    }

    /// Returns the file.
    pub(in crate::formats) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

/// Returns patches that replace ids in the members of `span` whose keys end in `id` and that hold nothing else. `new_id`
/// returns the new id of an old one.
pub(in crate::formats) fn id_patches(
    bytes: &[u8],
    span: &Span,
    new_id: impl Fn(&str) -> Option<String>,
) -> Vec<Patch> {
    let mut patches = Vec::new();
    let mut position = span.start;
    let mut key_is_id = false;
    while position < span.end {
        if bytes[position] != b'"' {
            // A key applies to the value directly after its colon.
            key_is_id &= bytes[position].is_ascii_whitespace() || bytes[position] == b':';
            position += 1;
            continue;
        }
        let end = string_end(bytes, position, span.end);
        let text = &bytes[position + 1..end.saturating_sub(1).max(position + 1)];
        let next = bytes[end..span.end].iter().find(|b| !b.is_ascii_whitespace());
        if next == Some(&b':') {
            key_is_id = ["id", "Id", "ID"].iter().any(|end| text.ends_with(end.as_bytes()));
        } else {
            let old = std::str::from_utf8(text).ok().filter(|_| key_is_id);
            patches.extend(old.and_then(&new_id).map(|new| (position..end, json_string(&new))));
            key_is_id = false;
        }
        position = end;
    }
    patches
}

/// Returns the position after the string that starts at `start`.
fn string_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let mut position = start + 1;
    while position < end {
        match bytes[position] {
            b'\\' => position += 2,
            b'"' => return position + 1,
            _ => position += 1,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::editing::patched;

    #[test]
    fn only_ids_are_replaced() {
        let file = r#"{"id":"a","parentID" : "b","text":"a \"id\":\"a\"","list":["id","a"],"tail_id":["a"],"x":{"sessionId":"a"}}"#;
        let bytes = file.as_bytes();
        let new = |old: &str| (old == "a").then(|| "new".to_owned());
        let patches = id_patches(bytes, &(0..bytes.len()), new);
        let text = String::from_utf8(patched(bytes, &(0..bytes.len()), patches)).unwrap();
        let expected = file.replacen(r#""id":"a""#, r#""id":"new""#, 1).replacen(
            r#""sessionId":"a""#,
            r#""sessionId":"new""#,
            1,
        );
        assert_eq!(text, expected);
        // A torn file.
        let torn = br#"{"id":"a"#;
        assert!(id_patches(torn, &(0..torn.len()), new).is_empty());
    }
}
