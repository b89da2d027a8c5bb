//! Validity: whether what recorded compactions lost predicts what the agents fetched again.
//!
//! After each recorded compaction, every fact and every name that the agent used later was either lost or held by the first
//! context, and was fetched again later or not. If the inference is worth anything, lost items are fetched again more often
//! than held ones.

mod observe;
mod report;

pub use observe::{Observation, Subject, observations};
pub use report::{Group, Validity, ValidityRow};

/// The published result in one sentence, shown where losses are shown (`docs/validity.md`).
pub const RESULT: &str = "In recorded sessions, agents did not fetch lost facts again more often than those they still had (docs/validity.md): a loss shows what was removed, not what was missed.";
