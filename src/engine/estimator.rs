//! Answers requests in a simulation: a concrete filler text of the size a summary would have.
//!
//! The filler is one common word, repeated: one token in the vocabularies we count by and four characters, so that
//! every counter weighs it alike, in simulation as in execution.

use super::{Answer, Case, Reply, Request};
use crate::units::Tokens;
use std::sync::Arc;

const WORD: &str = " the";

/// Words of the text by which the weight of one is told.
const PROBE: usize = 256;

/// Answers with predicted text of the largest size allowed.
#[derive(Debug)]
pub struct Estimator;

impl Answer for Estimator {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        Reply::Predicted(case.predicted(&request.prefix, request.max_tokens).text)
    }
}

/// A stand-in for a summary: long texts are costly to weigh, and every firing asks for the same one.
#[derive(Clone, Debug)]
pub(super) struct Predicted {
    /// The stand-in.
    pub(super) text: Arc<str>,
    /// The message that carries it.
    pub(super) message: Arc<str>,
    /// True tokens of the message.
    pub(super) weight: Tokens,
}

impl Predicted {
    /// The longest that weighs no more than so many tokens together with what stands before it.
    pub(super) fn new(case: &Case, prefix: &str, most: Tokens) -> Self {
        let text = text_of(case, prefix, most);
        let message = if prefix.is_empty() {
            Arc::clone(&text)
        } else {
            format!("{prefix}{text}").into()
        };
        Self {
            weight: case.ledger.weigh(&message),
            message,
            text,
        }
    }
}

/// The longest filler that weighs no more than so many tokens together with what stands before it. The prefix itself is
/// no part of it.
fn text_of(case: &Case, prefix: &str, most: Tokens) -> Arc<str> {
    let weigh = |words: usize| case.ledger.weigh(&WORD.repeat(words)).as_f64();
    let word = (weigh(2 * PROBE) - weigh(PROBE)) / PROBE as f64;
    let guess = most.as_f64() / word.max(0.05);
    let mut words = guess.clamp(1.0, 1e6) as usize;
    let fits = |words: usize| {
        let whole = format!("{prefix}{}", WORD.repeat(words));
        case.ledger.weigh(&whole) <= most
    };
    // Every word weighs the same, so the guess is off by the prefix and a rounding.
    while words > 1 && !fits(words) {
        words -= 1;
    }
    WORD.repeat(words).into()
}
