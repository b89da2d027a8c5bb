//! What a run asks of the world. A request describes; text is rendered only by who needs it.

use super::Case;
use crate::chat::Ask;
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// A run wants a summary before it can go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Index of the step before whose call it is needed.
    pub step: usize,
    /// Id of the stage that asks.
    pub stage: String,
    /// Messages of the session to be summarized, as ascending ranges of indices.
    pub messages: Vec<Range<usize>>,
    /// All messages that the summary will stand for: these and those that earlier summaries stood for.
    pub covers: Vec<Range<usize>>,
    /// Texts of earlier summaries and notices among what is to be summarized, oldest first.
    pub written: Vec<Arc<str>>,
    /// What these weigh (true tokens).
    pub input: Tokens,
    /// What will stand before the summary in its message.
    pub prefix: String,
    /// The most that the answer may weigh, in the tokens of the model that writes it; with the prefix, where there is one.
    pub max_tokens: Tokens,
    /// What the answer is taken to weigh in a simulation (true tokens): no more than its limit.
    pub predicted: Tokens,
    /// Name of the prompt that asks for it; empty where the system writes its request itself.
    pub prompt: String,
    /// The request as a real system sends it.
    pub ask: Option<Arc<Ask>>,
}

impl Request {
    /// The message that carries a summary.
    pub fn message(&self, summary: &str) -> Arc<str> {
        format!("{}{summary}", self.prefix).into()
    }

    /// Whether a summary is short enough.
    pub fn fits(&self, case: &Case, summary: &str) -> bool {
        case.ledger.weigh(&self.message(summary)) <= self.max_tokens
    }
}

/// The answer to a [`Request`].
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A stand-in of the size a summary would have. A context that holds one cannot be exported.
    Predicted(Arc<str>),
    /// A summary.
    Summary(Arc<str>),
    /// The model called a tool in its place.
    Called,
    /// It could not be had, and why. What follows is the policy's own rule.
    Failed(String),
}
