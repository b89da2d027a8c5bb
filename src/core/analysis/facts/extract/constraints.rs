//! Standing instructions of the user.

use super::{FactDraft, Material, compile};
use crate::analysis::facts::FactKind;
use crate::analysis::facts::text::FactSearch;
use crate::analysis::loss::{is_instruction, sentences};
use regex::Regex;
use std::sync::LazyLock;

/// Orders that [`is_instruction`] does not know: only …, use X not Y, avoid …, no …
static PREFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:please |also |and |just )*(?:only\b|(?:use|prefer|choose|keep|write|call|run)\b.{2,120}\b(?:instead of|rather than|not|never|only)\b|avoid\b|no (?:more )?[a-z]+\b.{0,80}[.!]?$)",
    )
});

/// Sentences that begin with `no` and order nothing: an answer, thanks or a statement.
static ANSWER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:and |just )*no (?:problem|worries|need|idea|doubt|wonder|thanks|one|longer|it|i|we|you|he|she|they|that|this|these|those|the|there|but|still|not)\b",
    )
});

/// Maximum length of a message in bytes; longer ones are usually pasted documents.
///
/// Measured on 542 user texts of 32 recorded sessions: 99 % have less than 15,000 characters, and only one has more
/// than this.
const MAX_MESSAGE: usize = 30_000;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    for (located, text) in material.user_texts() {
        if text.len() > MAX_MESSAGE {
            continue;
        }
        for sentence in sentences(text) {
            let is_short =
                (12..400).contains(&sentence.chars().count()) && !sentence.ends_with('?');
            let is_match = |pattern: &Option<Regex>| {
                let pattern = pattern.as_ref();
                pattern.is_some_and(|pattern| pattern.is_match(sentence))
            };
            let prefers = || is_match(&PREFERENCE) && !is_match(&ANSWER);
            if is_instruction(sentence) || (is_short && prefers()) {
                let search = FactSearch::new(sentence).or_words();
                found.push(located.draft(FactKind::Constraint, search, sentence));
            }
        }
    }
}
