//! Suggestions for misspelled names.

/// Returns the known name nearest to `typed`, if it is near enough to be a likely misspelling.
pub(super) fn nearest<'a>(typed: &str, known: &'a [String]) -> Option<&'a str> {
    let typed: Vec<char> = typed.to_lowercase().chars().take(64).collect();
    let with_steps = known.iter().map(|name| (steps(&typed, name), name));
    let (steps, name) = with_steps.min_by_key(|(steps, _)| *steps)?;
    (steps <= 1 + typed.len() / 5).then_some(name)
}

/// Returns the edit distance of two words: insertions, deletions and replacements of letters.
fn steps(typed: &[char], name: &str) -> usize {
    let mut row: Vec<usize> = (0..=typed.len()).collect();
    for (at, c) in name.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (idx, own) in typed.iter().enumerate() {
            let changed = diagonal + usize::from(*own != c);
            diagonal = row[idx + 1];
            row[idx + 1] = changed.min(diagonal + 1).min(row[idx] + 1);
        }
    }
    row[typed.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_told_and_another_word_is_not() {
        let known = ["truncate", "prune", "summarize", "none"].map(str::to_owned);
        for (typed, meant) in [
            ("truncat", Some("truncate")),
            ("Truncate", Some("truncate")),
            ("sumarise", Some("summarize")),
            ("prun", Some("prune")),
            ("xyzzy", None),
            ("", None),
            ("compaction", None),
        ] {
            assert_eq!(nearest(typed, &known), meant, "{typed}");
        }
    }
}
