//! Narrows a query to messages that may match: those with all sequences of three letters of its texts. The query itself
//! decides.

use crate::analysis::query::Query;
use std::borrow::Cow;

/// Letters of a sequence, those of `SQLite`'s tokenizer `trigram`.
const LETTERS: usize = 3;
/// Maximum number of sequences of an expression. More would hardly narrow further: 48 sequences are a phrase of 50
/// letters.
const MAX_SEQUENCES: usize = 48;

/// Returns an expression of the full-text index that every matching message matches; `None` if every message may match.
pub(super) fn expression(query: &Query) -> Option<String> {
    let mut sequences: Vec<String> = Vec::new();
    for needle in query.needles() {
        for piece in needle.as_str().split(is_uncertain) {
            let letters: Vec<char> = folded(piece).chars().collect();
            sequences.extend(letters.windows(LETTERS).map(|three| three.iter().collect()));
        }
    }
    sequences.sort();
    sequences.dedup();
    sequences.truncate(MAX_SEQUENCES);
    let quoted = |sequence: &String| format!("\"{}\"", sequence.replace('"', "\"\""));
    let all: Vec<String> = sequences.iter().map(quoted).collect();
    (!all.is_empty()).then(|| all.join(" AND "))
}

/// Returns a text with its letters folded, as the index stores it. The full-text index folds the case of most letters;
/// this adds the others, and NUL, which would end a text.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && byte != 0) {
        return Cow::Borrowed(text);
    }
    text.chars().map(fold).collect::<String>().into()
}

fn fold(letter: char) -> char {
    match letter {
        '\0' => ' ',
        _ if letter.is_ascii() => letter,
        _ => {
            let upper = only(letter.to_uppercase()).unwrap_or(letter);
            only(upper.to_lowercase()).unwrap_or(upper)
        }
    }
}

fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    let first = letters.next();
    first.filter(|_| letters.next().is_none())
}

/// Returns whether two letters are the same for queries, but not for the index: Greek letters with two accents, and the
/// ligatures of s and t.
fn is_uncertain(letter: char) -> bool {
    matches!(letter, '\u{390}' | '\u{3b0}' | '\u{1fd3}' | '\u{1fe3}' | '\u{fb05}' | '\u{fb06}')
}
