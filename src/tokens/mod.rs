//! What a session weighs, part by part, and how well each weight is known.
//!
//! Counting is done once per part at load; everything later works on columns of numbers. Media are weighed by
//! their provider's rule and never tokenized. Nothing here panics on hostile text.

mod bpe;
mod calibrate;
mod calls;
mod classes;
mod column;
mod heuristics;
mod joining;
mod ledger;
mod media;
mod piece_counts;
mod pieces;
mod ranks;
mod sample;
mod vocabulary;
mod weight;

pub use crate::progress::{Cancelled, Progress};
pub use calibrate::Fit;
pub use calls::recorded_estimates;
pub use column::Column;
pub use ledger::{Basis, TokenLedger};

/// A way to count the tokens of a text.
#[derive(Debug)]
pub struct Counter {
    /// Name on the command line and in JSON.
    pub name: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// Counts by a vocabulary, exactly, rather than by a rule of thumb.
    pub is_exact: bool,
    /// The tokens of a text. Never panics, linear in the text's length.
    pub count: fn(&str) -> u32,
}

impl Counter {
    /// Whether a fit of that counter's counts also fits this one's: the counts on samples are those of the default counter.
    fn counts_as(&self, name: &str) -> bool {
        let whole = if self.name == sample::SAMPLED.name {
            default_counter().name
        } else {
            self.name
        };
        whole == name
    }
}

/// Every counter we know; the first is the default.
pub static COUNTERS: &[Counter] = &[
    bpe::O200K_BASE,
    bpe::CL100K_BASE,
    bpe::O200K_BASE_REFERENCE,
    heuristics::CHARS_4,
    heuristics::BYTES_4,
    heuristics::CHARS_3,
];

/// The counter of this name.
pub fn by_name(name: &str) -> Option<&'static Counter> {
    COUNTERS.iter().find(|c| c.name == name)
}

/// A counter that is quick rather than right, for what is only looked over in a list. Its counts do not add up, so nothing is
/// replayed on it.
pub(crate) fn sampling_counter() -> &'static Counter {
    &sample::SAMPLED
}

/// The counter used when none is named.
pub fn default_counter() -> &'static Counter {
    &COUNTERS[0]
}
