//! Exact token counts with `OpenAI`'s published vocabularies.
//!
//! Splits a text into pieces and counts each with the vocabulary's merge rule. Counts of short pieces are cached, which
//! makes counting several times as fast as any library. Pieces over a kilobyte use a priority queue, so that hostile
//! text takes O(n log n). Tests compare all counts with `bpe-openai` and with the reference, `tiktoken-rs`. The
//! reference is slow on a long run of letters, spaces or signs (1.5 s per megabyte) or panics (a megabyte of spaces),
//! so such texts are never passed to it.
//!
//! All text is ordinary text: the name of a special token, such as `<|endoftext|>`, counts as its letters.

use super::pieces::Rule;
use super::{Counter, heuristics, piece_counts};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(super) const O200K_BASE: Counter = Counter {
    name: "o200k_base",
    help: "Exact for GPT-4o, GPT-4.1, GPT-5, Codex and the o models; for other models an approximation, calibrated if the file reports usage.",
    is_exact: true,
    count: o200k,
};

pub(super) const CL100K_BASE: Counter = Counter {
    name: "cl100k_base",
    help: "Exact for GPT-4 and GPT-3.5.",
    is_exact: true,
    count: cl100k,
};

pub(super) const O200K_BASE_REFERENCE: Counter = Counter {
    name: "o200k_base_tiktoken_rs",
    help: "Counts of o200k_base by another implementation. Slower; for verification.",
    is_exact: true,
    count: o200k_reference,
};

/// Maximum bytes of a run of letters, blanks or signs that is passed to the reference. The reference treats a run as
/// one piece and takes more than linear time for it. Text that people or programs write has no longer runs.
const LONGEST_RUN: usize = 4096;

/// Vocabularies of models by name prefix; the first match wins.
/// <https://github.com/openai/tiktoken/blob/main/tiktoken/model.py>
const MODELS: &[(&str, &str)] = &[
    ("gpt-4o", "o200k_base"),
    ("chatgpt-4o", "o200k_base"),
    ("gpt-4.1", "o200k_base"),
    ("gpt-4.5", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("gpt-oss", "o200k_base"),
    ("codex", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-35", "cl100k_base"),
];

/// Returns whether `counter` uses the vocabulary of `model` (a recorded model name, with or without a provider).
pub(super) fn is_own_vocabulary(counter: &Counter, model: &str) -> bool {
    let name = model
        .rsplit('/')
        .next()
        .unwrap_or(model)
        .to_ascii_lowercase();
    let vocabulary = MODELS
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|(_, vocabulary)| *vocabulary);
    counter.is_exact && vocabulary.is_some_and(|v| counter.name.starts_with(v))
}

fn o200k(text: &str) -> u32 {
    count_or_guess(text, |text| piece_counts::count(Rule::O200k, text))
}

fn cl100k(text: &str) -> u32 {
    count_or_guess(text, |text| piece_counts::count(Rule::Cl100k, text))
}

fn o200k_reference(text: &str) -> u32 {
    if longest_run(text) > LONGEST_RUN {
        return o200k(text);
    }
    count_or_guess(text, |text| {
        tiktoken_rs::o200k_base_singleton().count_ordinary(text)
    })
}

/// Counts a text. Falls back to a rule of thumb if the vocabulary panics. No known text causes a panic, but a single
/// text must not make a session unusable. The panic would still be reported on standard error.
fn count_or_guess(text: &str, count: impl Fn(&str) -> usize) -> u32 {
    match catch_unwind(AssertUnwindSafe(|| count(text))) {
        Ok(tokens) => u32::try_from(tokens).unwrap_or(u32::MAX),
        Err(_) => (heuristics::CHARS_4.count)(text),
    }
}

/// Returns the bytes of the longest run of characters of one class. Ignores digits, which are split by threes.
fn longest_run(text: &str) -> usize {
    let (mut longest, mut run, mut current) = (0, 0, Class::Digit);
    for c in text.chars() {
        let class = Class::of(c);
        run = if class == current {
            run + c.len_utf8()
        } else {
            c.len_utf8()
        };
        current = class;
        if class != Class::Digit {
            longest = longest.max(run);
        }
    }
    longest
}

/// Character classes of the splitting rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Blank,
    Sign,
}

impl Class {
    fn of(c: char) -> Self {
        if c.is_whitespace() {
            Self::Blank
        } else if c.is_alphabetic() {
            Self::Letter
        } else if c.is_numeric() {
            Self::Digit
        } else {
            Self::Sign
        }
    }
}
