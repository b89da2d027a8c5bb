//! A counter with `tiktoken-rs`, for verification. It reads our vocabulary, because its own copy would add 3.6 MB to the
//! executable; `tests/engine/tokens.rs` compares with its own copy.
//!
//! `tiktoken-rs` is slow on a long run of letters, spaces or signs (1.5 s per megabyte) or panics (a megabyte of
//! spaces), so such texts are never passed to it.

use super::Counter;
use super::counters::{count_or_estimate, o200k};
use crate::token_counter::Vocabulary;
use std::collections::HashMap;
use std::sync::LazyLock;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR, Rank};

pub(super) const O200K_BASE: Counter = Counter {
    name: "o200k_base_tiktoken_rs",
    help: "Counts of o200k_base by another implementation. Slower; for verification.",
    is_exact: true,
    count,
};

/// Maximum bytes of a run of letters, blanks or signs that is passed to `tiktoken-rs`, which treats a run as one piece
/// and takes more than linear time for it. Text that people or programs write has no longer runs.
// Chosen far below the megabyte of spaces at which it panics. A limit of double or half changes no count, since both
// counters agree, only how much of a text is verified.
const MAX_RUN_BYTES: usize = 4096;

/// The encoder of `tiktoken-rs`; `None` if it rejects the vocabulary.
static ENCODER: LazyLock<Option<CoreBPE>> = LazyLock::new(|| {
    let tokens = Vocabulary::O200kBase.tokens().map(<[u8]>::to_vec);
    let ranks = tokens.zip(0 as Rank..).collect();
    CoreBPE::new(ranks, HashMap::default(), O200K_BASE_PAT_STR).ok()
});

fn count(text: &str) -> u32 {
    match &*ENCODER {
        Some(encoder) if longest_run(text) <= MAX_RUN_BYTES => {
            count_or_estimate(text, |text| encoder.count_ordinary(text))
        }
        _ => o200k(text),
    }
}

/// Returns the bytes of the longest run of characters of one class. Ignores digits, which are split by threes.
fn longest_run(text: &str) -> usize {
    let (mut longest, mut run, mut current) = (0, 0, RunClass::Digit);
    for c in text.chars() {
        let class = RunClass::of(c);
        run = if class == current { run + c.len_utf8() } else { c.len_utf8() };
        current = class;
        if class != RunClass::Digit {
            longest = longest.max(run);
        }
    }
    longest
}

/// Character classes of the splitting rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunClass {
    Letter,
    Digit,
    Blank,
    Sign,
}

impl RunClass {
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
