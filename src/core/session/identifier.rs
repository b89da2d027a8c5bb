//! Identifiers in a text, by which later messages refer to earlier ones.
//!
//! An identifier is a path (its last two components), a name in camel, snake or dotted form of at least six characters,
//! a hash of 7 to 40 hex digits, or a number of at least four digits.

/// Returns the identifiers of a text in order, including repeated ones.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let words = std::iter::from_fn(move || {
        let (_, from_word) = rest.split_at(position(rest, true));
        let (word, behind) = from_word.split_at(position(from_word, false));
        rest = behind;
        (!word.is_empty()).then_some(word)
    });
    words.filter(|word| word.len() >= 4).filter_map(|word| identifier(trimmed(word)))
}

/// Returns the position of the first character inside a word, or of the first one outside; the length if no character is.
fn position(text: &str, inside: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (is_inside, length) = match bytes[at] {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'/' | b'-' => (true, 1),
            0..=127 => (false, 1),
            _ => {
                let c = text[at..].chars().next().unwrap_or_default();
                (c.is_alphanumeric(), c.len_utf8())
            }
        };
        if is_inside == inside {
            break;
        }
        at += length;
    }
    at
}

/// Returns a word without the punctuation around it.
fn trimmed(word: &str) -> &str {
    let is_punctuation = |byte: &u8| matches!(byte, b'.' | b'-' | b'/');
    let bytes = word.as_bytes();
    if is_punctuation(&bytes[0]) || is_punctuation(&bytes[bytes.len() - 1]) {
        word.trim_matches(['.', '-', '/'])
    } else {
        word
    }
}

fn identifier(word: &str) -> Option<&str> {
    // Chosen: three characters (`it`, `x1`, `200`) repeat by chance, and more than 200 are data rather than a name.
    if word.len() < 4 || word.len() > 200 || !word.is_ascii() {
        return None;
    }
    if word.contains('/') {
        return path_tail(word);
    }
    is_identifier(word.as_bytes()).then_some(word)
}

/// Returns the last two components of a path, so that absolute and relative forms of one path are equal.
fn path_tail(word: &str) -> Option<&str> {
    let last = word.rfind('/')?;
    let start = word[..last].rfind('/').map_or(0, |at| at + 1);
    let tail = &word[start..];
    // Five bytes: `a/b.c`, but not `and/` or `1/20`, which prose has.
    (tail.len() >= 5 && tail.bytes().any(|b| b.is_ascii_alphabetic())).then_some(tail)
}

/// Returns whether a word is a number, a hash or a name. A name has an inner capital, an underscore or an inner dot, which
/// prose does not.
fn is_identifier(word: &[u8]) -> bool {
    let (mut n_digits, mut n_hex_letters) = (0, 0);
    let mut is_joined = false;
    let mut before = b' ';
    for byte in word {
        match byte {
            b'0'..=b'9' => n_digits += 1,
            b'a'..=b'f' => n_hex_letters += 1,
            b'A'..=b'Z' => is_joined |= before.is_ascii_lowercase(),
            b'.' => is_joined |= before.is_ascii_alphanumeric(),
            b'_' => is_joined = true,
            _ => {}
        }
        before = *byte;
    }
    let n = word.len();
    // 7 digits are Git's shortest abbreviation, 40 those of a SHA-1.
    let is_hash = (7..=40).contains(&n) && n_digits > 0 && n_digits + n_hex_letters == n;
    let is_name = n >= 6 && is_joined && (word[0].is_ascii_alphabetic() || word[0] == b'_');
    n_digits == n || is_hash || is_name
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn finds_names_paths_hashes_and_numbers_but_no_prose() {
        let text = "Please read /home/dev/src/ledger/money.rs, fix parse_amount in LedgerEntry (see 3fa9c1e7, issue 1042).";
        let found: Vec<_> = identifiers(text).collect();
        assert_eq!(found, ["ledger/money.rs", "parse_amount", "LedgerEntry", "3fa9c1e7", "1042"]);
        assert_eq!(
            identifiers("It is all about the beautiful weather, e.g. on Sunday.").count(),
            0
        );
    }
}
