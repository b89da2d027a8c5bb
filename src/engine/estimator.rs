//! Answers requests in a simulation: a concrete filler text of the size a summary would have.
//!
//! The filler is one common word, repeated: one token in the vocabularies we count by and four characters, so that
//! every counter weighs it alike, in simulation as in execution.

use super::{Answer, Case, Reply, Request};
use std::sync::Arc;

const WORD: &str = " the";

/// Answers with predicted text.
#[derive(Debug, Default)]
pub(super) struct Estimator {
    /// The last filler and the cap it was made for: a run asks for the same size again and again.
    last: Option<(Request, Arc<str>)>,
}

impl Answer for Estimator {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        if let Some((of, text)) = &self.last
            && of.max_tokens == request.max_tokens
            && of.prefix == request.prefix
        {
            return Reply::Predicted(Arc::clone(text));
        }
        let text = filler(case, request);
        self.last = Some((request.clone(), Arc::clone(&text)));
        Reply::Predicted(text)
    }
}

/// The longest filler that fits a request's cap.
fn filler(case: &Case, request: &Request) -> Arc<str> {
    let of = |words: usize| WORD.repeat(words);
    // A word never weighs less than a third of a token, whatever the calibration.
    let mut fits = 0;
    let mut too_many = (request.max_tokens.0 as usize)
        .saturating_mul(3)
        .clamp(1, 1_000_000);
    while fits + 1 < too_many {
        let middle = usize::midpoint(fits, too_many);
        if request.fits(case, &of(middle)) {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    of(fits.max(1)).into()
}
