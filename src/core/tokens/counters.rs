//! Counters with `OpenAI`'s vocabularies and with rules of thumb.

use super::Counter;
use crate::token_counter::{LengthRule, Vocabulary};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(super) const O200K_BASE: Counter = Counter {
    name: Vocabulary::O200kBase.name(),
    help: "Exact for GPT-4o, GPT-4.1, GPT-5, Codex and the o models; for other models an approximation, calibrated if the file reports usage.",
    is_exact: true,
    count: o200k,
};

pub(super) const CL100K_BASE: Counter = Counter {
    name: Vocabulary::Cl100kBase.name(),
    help: "Exact for GPT-4 and GPT-3.5.",
    is_exact: true,
    count: |text| count_or_estimate(text, |text| Vocabulary::Cl100kBase.count(text)),
};

pub(super) const CHARS_4: Counter = Counter {
    name: "chars/4",
    help: "A quarter of the characters, rounded up. The most common estimate; low for code, far too low for CJK.",
    is_exact: false,
    count: |text| saturated(LengthRule::Chars4.count(text)),
};

pub(super) const BYTES_4: Counter = Counter {
    name: "bytes/4",
    help: "A quarter of the UTF-8 bytes, rounded up. Equals chars/4 for ASCII; closer for CJK.",
    is_exact: false,
    count: |text| saturated(LengthRule::Bytes4.count(text)),
};

pub(super) const CHARS_3: Counter = Counter {
    name: "chars/3",
    help: "A third of the characters, rounded up. A cautious estimate for code and JSON.",
    is_exact: false,
    count: |text| saturated(LengthRule::Chars3.count(text)),
};

/// Counts a text with `o200k_base`.
pub(super) fn o200k(text: &str) -> u32 {
    count_or_estimate(text, |text| Vocabulary::O200kBase.count(text))
}

/// Counts a text. Falls back to a rule of thumb if the vocabulary panics. No known text causes a panic, but a single
/// text must not make a session unusable. The panic would still be reported on standard error.
pub(super) fn count_or_estimate(text: &str, count: impl Fn(&str) -> usize) -> u32 {
    let counted = catch_unwind(AssertUnwindSafe(|| count(text)));
    saturated(counted.unwrap_or_else(|_| LengthRule::Chars4.count(text)))
}

fn saturated(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Returns whether `counter` uses the vocabulary of `model` (a recorded model name, with or without a provider).
pub(super) fn is_own_vocabulary(counter: &Counter, model: &str) -> bool {
    let vocabulary = Vocabulary::of_model(model);
    counter.is_exact && vocabulary.is_some_and(|v| counter.name.starts_with(v.name()))
}
