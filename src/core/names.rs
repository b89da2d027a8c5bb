//! Suggestions for misspelled names.

/// Minimum length of a part of a name that suggests the name. Shorter parts (`max`, `of`) fit a name by chance.
const MIN_PART: usize = 4;

/// Returns the known name nearest to `typed`, if it is near enough to be a likely misspelling.
pub fn nearest<'a>(typed: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let typed: Vec<char> = typed.to_lowercase().chars().take(64).collect();
    let known = || known.iter().map(AsRef::as_ref);
    let with_distance = known().map(|name: &str| (distance(&typed, name), name));
    let (distance, name) = with_distance.min_by_key(|(distance, _)| *distance)?;
    // One wrong letter, and another for every five: names of settings of different meaning differ by more.
    if distance <= 1 + typed.len() / 5 {
        return Some(name);
    }
    // A part of one name, such as `trigger`.
    let part: String = typed.into_iter().collect();
    let mut whole = known().filter(|name| name.contains(&part));
    let (first, other) = (whole.next()?, whole.next());
    (part.len() >= MIN_PART && other.is_none()).then_some(first)
}

/// Returns an error message for an unknown name: `problem` and the name, then the nearest known name or all of them.
pub fn unknown(problem: &str, typed: &str, known: &[impl AsRef<str>]) -> String {
    if let Some(near) = nearest(typed, known) {
        return format!("{problem} {typed:?}; did you mean {near}?");
    }
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    format!("{problem} {typed:?}; choose from {}", known.join(", "))
}

/// Returns the edit distance of two words: insertions, deletions and replacements of letters.
fn distance(typed: &[char], name: &str) -> usize {
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
    use super::*;

    #[test]
    fn suggests_a_name_for_a_misspelling_only() {
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

    #[test]
    fn suggests_the_only_name_that_contains_a_word() {
        let known = ["compression_trigger", "prune_minimum", "prune_protect"].map(str::to_owned);
        for (typed, meant) in [
            ("trigger", Some("compression_trigger")),
            ("protect", Some("prune_protect")),
            ("prune", None),
            ("min", None),
        ] {
            assert_eq!(nearest(typed, &known), meant, "{typed}");
        }
    }

    #[test]
    fn lists_all_names_if_none_is_near() {
        let unknown = |typed| unknown("no preset is named", typed, &["truncate", "prune"]);
        assert_eq!(unknown("prun"), "no preset is named \"prun\"; did you mean prune?");
        assert_eq!(unknown("x"), "no preset is named \"x\"; choose from truncate, prune");
    }
}
