//! Token counts of a session by part, and the accuracy of each count.
//!
//! Every part is counted once when a session is loaded. Later code works on columns of numbers. Media are counted by
//! their provider's rule and never tokenized. No function panics on hostile text.
//!
//! | file | contains |
//! |---|---|
//! | `counters`, `reference`, `sample` | the counters ([`COUNTERS`]): exact, for verification, on samples |
//! | `weight`, `media`, `image_rules` | uncalibrated tokens of a part |
//! | `calls`, `calibrate` | the fit to reported usage |
//! | `column`, `ledger` | counts of a session ([`TokenLedger`]) |
//! | `recent` | the counts of the last long texts |

mod calibrate;
mod calls;
mod column;
mod counters;
mod image_rules;
mod ledger;
mod media;
mod recent;
#[cfg(feature = "tiktoken-rs")]
mod reference;
mod sample;
mod weight;

pub use crate::progress::{Cancelled, Progress};
pub use calibrate::Fit;
pub use calls::recorded_estimates;
pub use column::Column;
pub use ledger::{Accuracy, TokenLedger};
pub(crate) use recent::count_recent;

/// A tokenizer, or an estimate of one.
#[derive(Debug)]
pub struct Counter {
    /// Name on the command line and in JSON.
    pub name: &'static str,
    /// Description in one line.
    pub help: &'static str,
    /// Whether it counts with a vocabulary rather than with a rule of thumb.
    pub is_exact: bool,
    /// Counts the tokens of a text. Never panics; linear in the length of the text.
    pub count: fn(&str) -> u32,
}

impl Counter {
    /// Returns whether a fit for the named counter applies to this one. Sampled counts are those of the default
    /// counter.
    fn counts_as(&self, name: &str) -> bool {
        let whole =
            if self.name == sample::SAMPLED.name { default_counter().name } else { self.name };
        whole == name
    }
}

/// All counters; the first is the default.
pub static COUNTERS: &[Counter] = &[
    counters::O200K_BASE,
    counters::CL100K_BASE,
    #[cfg(feature = "tiktoken-rs")]
    reference::O200K_BASE,
    counters::CHARS_4,
    counters::BYTES_4,
    counters::CHARS_3,
];

/// Returns the counter with this name.
pub fn by_name(name: &str) -> Option<&'static Counter> {
    COUNTERS.iter().find(|c| c.name == name)
}

/// Returns a fast, approximate counter for lists of sessions. Its counts do not add up, so replays do not use it.
pub fn sampling_counter() -> &'static Counter {
    &sample::SAMPLED
}

/// Returns the default counter.
pub fn default_counter() -> &'static Counter {
    &COUNTERS[0]
}
