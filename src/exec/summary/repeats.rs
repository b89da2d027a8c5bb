//! Detects answers in which a model repeats itself.

use crate::providers::plain_line;
use std::collections::HashMap;

/// Minimum number of occurrences of a repeated line. Chosen: together with half of the text it excludes headings and
/// table rows of an ordinary summary; a model that repeats itself writes dozens.
const MIN_OCCURRENCES: usize = 5;
/// Maximum number of characters of the line that are shown.
const MAX_SHOWN_CHARS: usize = 60;

/// Returns a note if one repeated line or sentence makes up more than half of an answer.
pub(super) fn note(text: &str) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut all = 0;
    for line in text.split(['\n', '.', '!', '?', '。']).map(str::trim) {
        all += line.len();
        *counts.entry(line).or_default() += 1;
    }
    let (line, count) = counts
        .into_iter()
        .find(|(line, count)| *count >= MIN_OCCURRENCES && line.len() * count * 2 > all)?;
    Some(format!(
        "the summary repeats one line {count} times: “{}”",
        plain_line(line, MAX_SHOWN_CHARS)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_makes_up_most_of_an_answer_is_reported() {
        let repeating = "Summary:\n".to_owned() + &"- The tests were run.\n".repeat(40);
        let expected = "the summary repeats one line 40 times: “- The tests were run”";
        assert_eq!(note(&repeating).as_deref(), Some(expected));
        let sentences = "I will read the file now. ".repeat(9);
        assert!(note(&sentences).is_some_and(|note| note.contains("9 times")));
        let steps =
            (0..40).fold(String::new(), |text, n| text + &format!("- Step {n} is done.\n---\n"));
        for text in ["", "\n\n\n\n\n\n", "yes\nyes\nyes\n", &steps] {
            assert_eq!(note(text), None, "{text:?}");
        }
    }
}
