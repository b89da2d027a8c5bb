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

/// Answers with text of the predicted size.
#[derive(Debug)]
pub struct Estimator;

impl Answer for Estimator {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        Reply::Predicted(case.predicted(&request.prefix, request.predicted).text)
    }
}

/// A stand-in for a summary: long texts are costly to make, and every firing asks for the same one.
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
    /// Of this size.
    pub(super) fn new(prefix: &str, size: Size) -> Self {
        let text: Arc<str> = WORD.repeat(size.words).into();
        let message = if prefix.is_empty() {
            Arc::clone(&text)
        } else {
            format!("{prefix}{text}").into()
        };
        Self {
            weight: size.weight,
            message,
            text,
        }
    }
}

/// The size of a stand-in for a summary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    words: usize,
    /// True tokens of the message that carries it.
    pub(super) weight: Tokens,
}

impl Size {
    /// The longest that weighs no more than so many tokens together with what stands before it. The prefix itself is no
    /// part of it.
    pub(super) fn new(case: &Case, prefix: &str, most: Tokens) -> Self {
        let weigh = |words: usize| case.ledger.weigh_repeated(prefix, WORD, words);
        let alone = |words: usize| case.ledger.weigh_repeated("", WORD, words).as_f64();
        let word = (alone(2 * PROBE) - alone(PROBE)) / PROBE as f64;
        let guess = most.as_f64() / word.max(0.05);
        let mut words = guess.clamp(1.0, 1e6) as usize;
        // Every word weighs the same, so the guess is off by the prefix and a rounding.
        while words > 1 && weigh(words) > most {
            words -= 1;
        }
        Self {
            words,
            weight: weigh(words),
        }
    }
}
