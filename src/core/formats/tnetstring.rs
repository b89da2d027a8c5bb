//! Typed netstrings, the notation of mitmproxy's flow files: a length, a colon, the data, and a character for its type.
//!
//! Values are found by scanning one level, so that neither depth nor lengths of a hostile file matter.
//! <https://github.com/mitmproxy/mitmproxy/blob/main/mitmproxy/io/tnetstring.py>

/// Maximum number of digits of a length, as the program reads it.
const MAX_DIGITS: usize = 9;

/// Characters for the types.
const KINDS: &[u8] = b",;#^!~]}";

/// A value in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// Character for the type: `,` and `;` for texts, `}` for a dictionary, `]` for a list, `#` and `^` for numbers.
    pub(super) kind: u8,
    /// The data, of which a dictionary and a list contain further values.
    pub(super) data: &'a [u8],
}

/// Returns the first value and the rest, or `None` if there is no whole value.
pub(super) fn pop(bytes: &[u8]) -> Option<(Item<'_>, &[u8])> {
    let n_digits = bytes.iter().take(MAX_DIGITS + 1).take_while(|b| b.is_ascii_digit()).count();
    if n_digits == 0 || n_digits > MAX_DIGITS || bytes.get(n_digits) != Some(&b':') {
        return None;
    }
    let length: usize = std::str::from_utf8(&bytes[..n_digits]).ok()?.parse().ok()?;
    let rest = &bytes[n_digits + 1..];
    let (data, rest) = rest.split_at_checked(length)?;
    let (kind, rest) = rest.split_first()?;
    KINDS.contains(kind).then_some((Item { kind: *kind, data }, rest))
}

/// Returns whether bytes begin like a file of flows: the length of a dictionary, then its first key.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    let inner = |bytes: &[u8]| {
        let n_digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
        (1..=MAX_DIGITS).contains(&n_digits) && bytes.get(n_digits) == Some(&b':')
    };
    let Some(colon) = bytes.iter().take(MAX_DIGITS + 1).position(|b| *b == b':') else {
        return false;
    };
    let key = &bytes[colon + 1..];
    let is_name = |data: &[u8]| data.iter().all(|b| b.is_ascii_lowercase() || *b == b'_');
    inner(bytes)
        && pop(key).is_some_and(|(key, _)| {
            matches!(key.kind, b',' | b';') && !key.data.is_empty() && is_name(key.data)
        })
}

impl<'a> Item<'a> {
    /// Iterates over the values of a list, or the keys and values of a dictionary. Ends at damaged data.
    pub(super) fn items(self) -> impl Iterator<Item = Item<'a>> {
        let mut rest = if matches!(self.kind, b'}' | b']') { self.data } else { &[] };
        std::iter::from_fn(move || {
            let (item, after) = pop(rest)?;
            rest = after;
            Some(item)
        })
    }

    /// Returns the value of a key of a dictionary.
    pub(super) fn get(self, key: &str) -> Option<Self> {
        let mut items = self.items().filter(|_| self.kind == b'}');
        while let (Some(name), Some(value)) = (items.next(), items.next()) {
            if name.data == key.as_bytes() {
                return Some(value);
            }
        }
        None
    }

    /// Returns the text of a string or a number.
    pub(super) fn text(self) -> Option<&'a str> {
        let is_scalar = matches!(self.kind, b',' | b';' | b'#' | b'^');
        std::str::from_utf8(self.data).ok().filter(|_| is_scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLOW: &[u8] = b"55:4:path;3:/v1,6:status;3:200#4:list;16:1:a,2:bc;4:true!]}3:end";

    #[test]
    fn finds_values_of_dictionaries_and_lists() {
        let (flow, rest) = pop(FLOW).expect("a flow");
        assert_eq!((flow.kind, rest), (b'}', &b"3:end"[..]));
        assert_eq!(flow.get("path").and_then(Item::text), Some("/v1"));
        assert_eq!(flow.get("status").and_then(Item::text), Some("200"));
        let list: Vec<_> =
            flow.get("list").expect("a list").items().map(|item| item.data).collect();
        assert_eq!(list, [&b"a"[..], b"bc", b"true"]);
        assert_eq!(flow.get("none"), None);
        assert!(is_start(FLOW));
    }

    #[test]
    fn rejects_other_files() {
        for bytes in [
            &b""[..],
            b":",
            b"12",
            b"12:00 noon, in the harbor",
            b"999999999:1:a,",
            b"5:ab,",
            b"1234567890:1:a,",
            b"{\"a\":1}",
        ] {
            assert_eq!(pop(bytes), None, "{bytes:?}");
        }
        assert!(!is_start(b"12:00 noon, in the harbor"));
        assert!(!is_start(b"12:3:A B,"));
    }

    proptest! {
        #[test]
        fn ends_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut flow = FLOW.to_vec();
            flow.extend(&bytes);
            for bytes in [&bytes[..], &flow] {
                if let Some((item, _)) = pop(bytes) {
                    prop_assert!(item.items().count() <= bytes.len());
                }
                is_start(bytes);
            }
        }
    }
}
