//! Validity: whether what recorded compactions lost predicts what the agents fetched again.
//!
//! After each recorded compaction, every fact and every name that the agent used later was either lost or held by the first
//! context, and was fetched again later or not. If the inference is worth anything, lost items are fetched again more often
//! than held ones.

mod observe;
mod report;

pub use observe::{Observation, Subject, observations};
pub use report::{Group, Validity, ValidityRow};
