//! A filler text in the place of a summary that is not written yet.
//!
//! The filler is one common word, repeated. It is one token in the supported vocabularies and four characters long, so
//! every counter gives the same weight in simulation and execution.

use crate::tokens::TokenLedger;
use crate::units::Tokens;
use std::sync::Arc;

const WORD: &str = " the";

/// Returns whether a text is a stand-in for a summary. It has the size of a summary but not the form that a system asks
/// for.
pub fn is_stand_in(text: &str) -> bool {
    !text.is_empty() && text.replace(WORD, "").is_empty()
}

/// Number of words in the text used to measure the weight of one. The difference between one and two such texts
/// excludes what a counter adds to every text, and with 256 words its rounding is less than half a percent of a word.
const PROBE: usize = 256;

/// A stand-in for a summary. Cached, because long texts are slow to build and every compaction requests the same one.
#[derive(Clone, Debug)]
pub(crate) struct Predicted {
    /// The stand-in text.
    pub(crate) text: Arc<str>,
    /// The message that contains it.
    pub(crate) message: Arc<str>,
    /// True tokens of the message.
    pub(crate) weight: Tokens,
}

impl Predicted {
    /// Creates the longest stand-in that weighs at most `most` tokens together with `prefix`.
    pub(crate) fn new(ledger: &TokenLedger, prefix: &str, most: Tokens) -> Self {
        let weigh = |words: usize| ledger.weigh_repeated(prefix, WORD, words);
        let alone = |words: usize| ledger.weigh_repeated("", WORD, words).as_f64();
        let word = (alone(2 * PROBE) - alone(PROBE)) / PROBE as f64;
        let guess = most.as_f64() / word.max(0.05);
        let mut words = guess.clamp(1.0, 1e6) as usize;
        // Every word weighs the same, so the estimate is off only by the prefix and by rounding.
        while words > 1 && weigh(words) > most {
            words -= 1;
        }
        let text: Arc<str> = WORD.repeat(words).into();
        let message =
            if prefix.is_empty() { Arc::clone(&text) } else { format!("{prefix}{text}").into() };
        Self { weight: weigh(words), message, text }
    }
}
