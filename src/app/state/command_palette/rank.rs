//! Ranks names by how well they match typed words.

use std::cmp::Reverse;

/// Returns the indices of the names that match every word, best first. Equal ones keep their order.
pub(crate) fn ranked<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let typed = typed.to_lowercase();
    let words: Vec<&str> = typed.split_whitespace().collect();
    let score = |name: &str| -> Option<u32> {
        let name = name.to_lowercase();
        words.iter().map(|word| score(&name, word)).sum()
    };
    let scored = names.enumerate();
    let mut scored: Vec<(usize, u32)> =
        scored.filter_map(|(idx, name)| Some((idx, score(name)?))).collect();
    scored.sort_by_key(|(_, score)| Reverse(*score));
    scored.into_iter().map(|(idx, _)| idx).collect()
}

/// Returns how well a name contains a word: as a whole word, as the start of one, within one, or only its letters in
/// order, from the start of a word or scattered. A word at the beginning of the name counts more.
fn score(name: &str, word: &str) -> Option<u32> {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let contained = name.match_indices(word).map(|(start, _)| {
        let (before, after) = (&name[..start], &name[start + word.len()..]);
        let quality = match is_border(before.chars().next_back()) {
            true if is_border(after.chars().next()) => 12,
            true => 9,
            false => 4,
        };
        quality + u32::from(before.is_empty())
    });
    let has_letters = |of: &str| {
        let mut letters = of.chars();
        word.chars().all(|c| letters.any(|letter| letter == c))
    };
    let letters_in_order = || {
        let mut words = name.split(|c: char| !c.is_alphanumeric());
        let is_short_form =
            words.any(|of| of.chars().next() == word.chars().next() && has_letters(of));
        has_letters(name).then_some(if is_short_form { 2 } else { 1 })
    };
    contained.max().or_else(letters_in_order)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = [
        "Next compaction",
        "Previous compaction",
        "Dark theme",
        "Show the tab Cost",
        "Add the lane Context editing",
        "Go to call 34",
    ];

    fn found(typed: &str) -> Vec<&'static str> {
        let ranked = ranked(typed, NAMES.into_iter());
        ranked.into_iter().map(|idx| NAMES[idx]).collect()
    }

    #[test]
    fn whole_words_and_their_starts_come_before_scattered_letters() {
        assert_eq!(found(""), NAMES);
        assert_eq!(found("theme"), ["Dark theme"]);
        assert_eq!(found("comp pre"), ["Previous compaction"]);
        assert_eq!(found("cOsT"), ["Show the tab Cost"]);
        assert_eq!(found("call 34"), ["Go to call 34"]);
        assert_eq!(found("co")[0], "Next compaction");
        assert_eq!(found("the")[..2], ["Show the tab Cost", "Add the lane Context editing"]);
        assert_eq!(found("go")[0], "Go to call 34");
        let sessions = ["Swap the compared sessions", "Sessions on this machine"];
        assert_eq!(ranked("sessions", sessions.into_iter()), [1, 0]);
        // Only the letters, in order.
        let names = ["Add or remove a mark at this call", "Show the tab Evaluate"];
        assert_eq!(ranked("evl", names.into_iter()), [1, 0]);
        assert_eq!(found("nxtcmp"), ["Next compaction"]);
        assert!(found("zzz").is_empty());
    }
}
