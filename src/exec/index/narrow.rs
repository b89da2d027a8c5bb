//! Narrows a query to messages that may match: those with all sequences of three letters of its texts. The query itself
//! decides.

use crate::analysis::query::Query;

/// Letters of a sequence.
const LETTERS: usize = 3;
/// Maximum number of sequences of an expression. More would hardly narrow further.
const MAX_SEQUENCES: usize = 48;

/// Returns an expression of the full-text index that every matching message matches; `None` if every message may match.
pub(super) fn expression(query: &Query) -> Option<String> {
    let mut sequences: Vec<String> = Vec::new();
    for needle in query.needles() {
        for piece in needle.as_str().split(is_uncertain) {
            let letters: Vec<char> = piece.chars().collect();
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

/// Returns whether the full-text index may fold the case of a letter in another way than queries do, or end a text at it.
fn is_uncertain(letter: char) -> bool {
    letter == '\0'
}
