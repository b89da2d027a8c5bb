//! What an export would send to a model, told before anything is sent.

use super::export::ExportJob;
use crate::engine::{Estimator, drive};
use crate::units::Tokens;

/// What would be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Requests, where each is answered by a summary of the largest size allowed.
    pub requests: usize,
    /// True tokens of what is to be summarized, all requests together.
    pub tokens: Tokens,
    /// Most true tokens of the answers together.
    pub answers: Tokens,
}

/// Plays the run with predicted summaries. What really is sent depends on the answers.
pub fn sending(job: &ExportJob) -> Sending {
    let outcome = drive(
        &job.case,
        &job.policy,
        &job.knobs,
        job.schedule,
        job.until,
        &mut Estimator,
    );
    Sending {
        requests: outcome.summaries.requests,
        tokens: outcome.summaries.sent,
        answers: outcome.summaries.received,
    }
}
