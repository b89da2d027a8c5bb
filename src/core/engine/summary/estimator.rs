//! Answers requests in a simulation with a filler text of the size that a summary would have.

use super::request::{Answer, Reply, Request};
use crate::engine::case::Case;

/// Answers with a text of the predicted size.
#[derive(Debug)]
pub struct Estimator;

impl Answer for Estimator {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        Reply::Predicted(case.predicted(&request.prefix, request.predicted).text)
    }
}
