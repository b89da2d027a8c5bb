//! Identifiers in a text, by which later messages refer to earlier ones.
//!
//! An identifier is a path (its last two components), a name in camel, snake or dotted form of at least six characters,
//! a hash of 7 to 40 hex digits, or a number of at least four digits.

/// Returns the identifiers of a text in order, including repeated ones.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_inside(c))
        .filter(|word| word.len() >= 4)
        .map(|word| word.trim_matches(['.', '-', '/', ':']))
        .filter_map(identifier)
}

fn is_inside(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' | '/' | '-' => true,
        _ => !c.is_ascii() && c.is_alphanumeric(),
    }
}

fn identifier(word: &str) -> Option<&str> {
    if word.len() < 4 || word.len() > 200 || !word.is_ascii() {
        return None;
    }
    if word.contains('/') {
        return path_tail(word);
    }
    let is_known = is_number(word) || is_hash(word) || (word.len() >= 6 && is_name(word));
    is_known.then_some(word)
}

/// Returns the last two components of a path, so that absolute and relative forms of one path are equal.
fn path_tail(word: &str) -> Option<&str> {
    let last = word.rfind('/')?;
    let start = word[..last].rfind('/').map_or(0, |at| at + 1);
    let tail = &word[start..];
    (tail.len() >= 5 && tail.bytes().any(|b| b.is_ascii_alphabetic())).then_some(tail)
}

fn is_number(word: &str) -> bool {
    word.len() >= 4 && word.bytes().all(|b| b.is_ascii_digit())
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        && word.bytes().any(|b| b.is_ascii_digit())
}

/// Returns whether a word has an inner capital, an underscore or an inner dot, which prose does not.
fn is_name(word: &str) -> bool {
    let mut before = ' ';
    word.chars().any(|c| {
        let joins = c == '_'
            || (c == '.' && before.is_alphanumeric())
            || (c.is_uppercase() && before.is_lowercase());
        before = c;
        joins
    }) && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn finds_names_paths_hashes_and_numbers_but_no_prose() {
        let text = "Please read /home/dev/src/ledger/money.rs, fix parse_amount in LedgerEntry (see 3fa9c1e7, issue 1042).";
        let found: Vec<_> = identifiers(text).collect();
        assert_eq!(
            found,
            [
                "ledger/money.rs",
                "parse_amount",
                "LedgerEntry",
                "3fa9c1e7",
                "1042"
            ]
        );
        assert_eq!(
            identifiers("It is all about the beautiful weather, e.g. on Sunday.").count(),
            0
        );
    }
}
