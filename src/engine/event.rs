//! What a run did, and why.

use crate::units::Tokens;
use std::ops::Range;

/// One stage that acted.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Index of the step before whose call it acted.
    pub step: usize,
    /// Id of the stage.
    pub stage: String,
    /// What it did: `drop`, `clear`, `summarize`.
    pub action: &'static str,
    /// Why: the trigger as written, and its quantities with their values at that moment.
    pub cause: Cause,
    /// True tokens before.
    pub before: Tokens,
    /// True tokens after.
    pub after: Tokens,
    /// Indices of the session's messages that it touched, as ascending ranges.
    pub messages: Vec<Range<usize>>,
    /// True tokens that a summary request would send and get back, where one was made.
    pub request: Option<(Tokens, Tokens)>,
}

/// Why a stage acted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// The trigger as the preset writes it.
    pub when: String,
    /// Its quantities with their values.
    pub terms: Vec<(String, f64)>,
}

impl Event {
    /// How many messages it touched.
    pub fn n_messages(&self) -> usize {
        self.messages.iter().map(ExactSizeIterator::len).sum()
    }
}
