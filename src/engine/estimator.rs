//! Answers requests in a simulation with a filler text of the size that a summary would have.
//!
//! The filler is one common word, repeated. It is one token in the supported vocabularies and four characters long, so
//! every counter gives the same weight in simulation and execution.

use super::{Answer, Case, Reply, Request};
use crate::units::Tokens;
use std::sync::Arc;

const WORD: &str = " the";

/// Number of words in the text used to measure the weight of one.
const PROBE: usize = 256;

/// Answers with a text of the predicted size.
#[derive(Debug)]
pub struct Estimator;

impl Answer for Estimator {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        Reply::Predicted(case.predicted(&request.prefix, request.predicted).text)
    }
}

/// A stand-in for a summary. Cached, because long texts are slow to build and every compaction requests the same one.
#[derive(Clone, Debug)]
pub(super) struct Predicted {
    /// The stand-in text.
    pub(super) text: Arc<str>,
    /// The message that contains it.
    pub(super) message: Arc<str>,
    /// True tokens of the message.
    pub(super) weight: Tokens,
}

impl Predicted {
    /// Creates the longest stand-in that weighs at most `most` tokens together with `prefix`.
    pub(super) fn new(case: &Case, prefix: &str, most: Tokens) -> Self {
        let weigh = |words: usize| case.ledger.weigh_repeated(prefix, WORD, words);
        let alone = |words: usize| case.ledger.weigh_repeated("", WORD, words).as_f64();
        let word = (alone(2 * PROBE) - alone(PROBE)) / PROBE as f64;
        let guess = most.as_f64() / word.max(0.05);
        let mut words = guess.clamp(1.0, 1e6) as usize;
        // Every word weighs the same, so the estimate is off only by the prefix and by rounding.
        while words > 1 && weigh(words) > most {
            words -= 1;
        }
        let text: Arc<str> = WORD.repeat(words).into();
        let message = if prefix.is_empty() {
            Arc::clone(&text)
        } else {
            format!("{prefix}{text}").into()
        };
        Self {
            weight: weigh(words),
            message,
            text,
        }
    }
}
