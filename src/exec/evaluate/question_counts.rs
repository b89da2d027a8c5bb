//! Results of the questions of a run.

use crate::exec::summary::{Ending, Exchange};
use schemars::JsonSchema;
use serde::Serialize;

/// Numbers of questions by result. Their sum is the number of planned questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestionCounts {
    /// Number of answered questions.
    pub answered: usize,
    /// Number of questions that the model refused to answer, or whose answer the provider filtered.
    pub refused: usize,
    /// Number of questions that are longer than the model's window.
    pub too_long: usize,
    /// Number of questions whose answer is incomplete, too large or not an answer.
    pub unreadable: usize,
    /// Number of questions whose request the server rejected or did not answer.
    pub failed: usize,
    /// Number of questions that were not sent, because the run ended early.
    pub not_sent: usize,
    /// Number of questions without a context to ask about, because a summary is missing.
    pub without_context: usize,
}

impl QuestionCounts {
    /// Returns the number of all questions.
    pub fn planned(&self) -> usize {
        let unanswered = self.unanswered().map(|(count, _)| count);
        self.answered + unanswered.iter().sum::<usize>()
    }

    /// Returns the numbers of questions without an answer, each with its reason in words.
    pub fn unanswered(&self) -> [(usize, &'static str); 6] {
        [
            (self.refused, "refused"),
            (self.too_long, "longer than the model's window"),
            (self.unreadable, "unreadable"),
            (self.failed, "failed"),
            (self.not_sent, "not sent"),
            (self.without_context, "without a context"),
        ]
    }

    /// Counts the answer to a question; `None` if it was not sent.
    pub(super) fn add(&mut self, exchange: Option<&Exchange>) {
        let count = match exchange {
            None => &mut self.not_sent,
            Some(exchange) if exchange.ending == Ending::Refused => &mut self.refused,
            Some(exchange) if exchange.is_too_long => &mut self.too_long,
            Some(exchange) if exchange.is_fatal => &mut self.failed,
            Some(exchange) if exchange.failed.is_some() => &mut self.unreadable,
            Some(_) => &mut self.answered,
        };
        *count += 1;
    }
}
