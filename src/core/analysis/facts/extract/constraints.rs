//! Standing instructions of the user, in English.
//!
//! A task ("Please fix the bug.") is none: it is done once. A sentence counts if it says what to do always, never or not
//! at all ([`is_instruction`]), which means to use ([`PREFERENCE`]), what the result must be ([`REQUIREMENT`]), or from
//! when on to do something ([`LASTING`]). `docs/hooks.md` lists the kinds.

use super::{FactDraft, Material, compile};
use crate::analysis::facts::FactKind;
use crate::analysis::facts::text::FactSearch;
use crate::analysis::loss::{is_instruction, sentences};
use regex::Regex;
use std::sync::LazyLock;

/// Means: only …, use …, follow …, keep …, use X not Y, avoid …, no …, answer in English.
static PREFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:please |also |and |just )*(?:only\b|(?:use|prefer|choose|keep|write|call|run)\b.{2,120}\b(?:instead of|rather than|not|never|only)\b|avoid\b|refrain from\b|no (?:more )?[a-z]+\b.{0,80}[.!]?$|(?:use|prefer|follow|stick (?:to|with)|adhere to|comply with|keep)\b|leave\b.{2,120}\b(?:alone|unchanged|untouched|as (?:it is|they are|is))\b|(?:answer|reply|respond|write|speak|talk)\b.{0,60}\bin (?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|chinese|japanese|korean|turkish|arabic|hindi)\b)",
    )
});

/// Sentences like those of [`PREFERENCE`] that order one step: use X to do Y, use X for the next step, keep going.
static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:please |also |and |just )*(?:(?:use|follow)\b.{2,200}\b(?:to [a-z]+|now|once|this time|first|again)\b|keep (?:going|on|it up|up|trying|working|looking|at it|in mind)\b)",
    )
});

/// Orders that prefer something to something else, which no step does.
static COMPARISON: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"(?i)\b(?:instead of|rather than|not|never|only)\b"));

/// Requirements: make sure …, ensure …, be sure to …, remember to …, also after a first order.
static REQUIREMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:please |also |and |but |just |then )*(?:make sure|ensure|be sure to|be careful (?:to|not)|remember to|see to it)\b|(?:, |; |: | and | but )(?:please |also |then )*(?:make sure|be sure to|remember to)\b",
    )
});

/// First words of a statement, which only reports a requirement.
static STATEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:and |but |so )*(?:i|we|he|she|it|they|you|the|this|that|these|those|my|our|a|an)\b",
    )
});

/// Orders for the rest of the session: from now on, until further notice, unless I say otherwise, whenever you …, use ….
static LASTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:from (?:now|here) on|going forward|until further notice|(?:until|unless) i (?:say|tell|ask)|for the rest of (?:this|the|our) (?:session|conversation|chat|project|work))\b|^(?:please |also |and |but )*(?:whenever|every time|each time) you\b.{2,120}, (?:please |also |then |always )*(?:add|answer|ask|check|commit|explain|format|keep|log|make|note|put|run|show|tell|test|update|use|write)\b|^(?:please |also |and )*you (?:(?:may|shall) (?:not|only)|(?:can|should) only|(?:are|'re) (?:not|only) (?:allowed|permitted) to)\b",
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
            let compares = || is_match(&COMPARISON);
            let prefers =
                || is_match(&PREFERENCE) && !is_match(&ANSWER) && (!is_match(&STEP) || compares());
            let requires = || is_match(&REQUIREMENT) && !is_match(&STATEMENT);
            let is_rule = || prefers() || requires() || is_match(&LASTING);
            if is_instruction(sentence) || (is_short && is_rule()) {
                let search = FactSearch::new(sentence).or_words();
                found.push(located.draft(FactKind::Constraint, search, sentence));
            }
        }
    }
}
