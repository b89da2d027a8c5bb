//! Demands of the user; the other option is the opposite.

use super::{Draws, ProbeDraft, Template};
use crate::analysis::facts::FactKind;
use crate::analysis::probes::known_facts::KnownFacts;

pub(super) const TEMPLATE: Template =
    Template { name: "constraint", label: "user constraints", write };

/// Words of a demand and of its opposite. The first row found in a demand applies, so longer words come first.
const OPPOSITES: [(&str, &str); 13] = [
    ("must never", "must always"),
    ("must not", "must"),
    ("mustn't", "must"),
    ("do not", "always"),
    ("don't", "always"),
    ("never", "always"),
    ("always", "never"),
    ("must", "must not"),
    ("cannot", "can"),
    ("can't", "can"),
    ("may not", "may"),
    ("only", "never only"),
    ("without", "with"),
];

fn write(known: &KnownFacts<'_>, _draws: &mut Draws) -> Vec<ProbeDraft> {
    let drafts = known.now(FactKind::Constraint).map(|fact| {
        let question = "Which of these did the user demand?";
        let opposite = swapped(&fact.text).or_else(|| opposite(&fact.text));
        ProbeDraft::new(fact, question, &fact.text, opposite.as_deref())
    });
    drafts.collect()
}

/// Returns `use Y, not X` for `use X, not Y`.
fn swapped(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let start = find_word(&lower, "use")? + "use ".len();
    let (first_end, separator) = [", not ", " instead of ", " not ", " rather than "]
        .iter()
        .find_map(|separator| Some((start + lower.get(start..)?.find(separator)?, *separator)))?;
    let second_start = first_end + separator.len();
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '`'));
    let second_len = text[second_start..].find(is_end);
    let end = second_len.map_or(text.len(), |len| second_start + len);
    let (first, second) = (&text[start..first_end], &text[second_start..end]);
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    (is_name(first) && is_name(second)).then(|| {
        let (before, after) = (&text[..start], &text[end..]);
        format!("{before}{second}{separator}{first}{after}")
    })
}

/// Returns `Always push` for `Never push`.
fn opposite(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    OPPOSITES.iter().find_map(|(words, opposite)| {
        let at = find_word(&lower, words)?;
        let is_capital = text[at..].starts_with(|c: char| c.is_uppercase());
        let mut opposite = (*opposite).to_owned();
        if is_capital {
            opposite[..1].make_ascii_uppercase();
        }
        Some(format!("{}{opposite}{}", &text[..at], &text[at + words.len()..]))
    })
}

/// Returns the position of the first match that is not part of a longer word.
fn find_word(text: &str, words: &str) -> Option<usize> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut hits = text.match_indices(words).map(|(at, _)| at);
    hits.find(|at| {
        let (before, after) = (&text[..*at], &text[at + words.len()..]);
        !before.ends_with(is_inside) && !after.starts_with(is_inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_is_turned_into_its_opposite() {
        let turned = |text| swapped(text).or_else(|| opposite(text));
        let pairs = [
            ("Never push to main.", "Always push to main."),
            ("Please always run the tests", "Please never run the tests"),
            ("Do not touch vendor/", "Always touch vendor/"),
            ("You must not use unsafe.", "You must use unsafe."),
            ("All names must be short.", "All names must not be short."),
            ("Use pnpm, not npm, for this.", "Use npm, not pnpm, for this."),
            ("use `rg` instead of grep", "use grep instead of `rg`"),
        ];
        for (text, expected) in pairs {
            assert_eq!(turned(text).as_deref(), Some(expected));
        }
        assert_eq!(turned("Bitte benutze kein npm."), None, "no rule for other languages");
        assert_eq!(turned("The mustache template"), None, "whole words only");
    }
}
