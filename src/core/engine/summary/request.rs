//! Requests of a run. A request is a description; its text is rendered only when needed.

use crate::chat::SummaryRequest;
use crate::engine::case::Case;
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// A summary that a run needs before it can continue.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Index of the call before which it is needed.
    pub call: usize,
    /// Id of the requesting stage.
    pub stage: String,
    /// Messages of the session to be summarized, as ascending ranges of indices.
    pub messages: Vec<Range<usize>>,
    /// All messages that the summary will cover: `messages` and those that earlier summaries covered.
    pub covers: Vec<Range<usize>>,
    /// Texts of earlier summaries and notices among what is to be summarized, oldest first.
    pub written: Vec<Arc<str>>,
    /// True tokens of the messages and texts.
    pub input: Tokens,
    /// Text before the summary in its message.
    pub prefix: String,
    /// Maximum tokens of the answer, in the tokens of the model that writes it, including the prefix if there is one.
    pub max_tokens: Tokens,
    /// Assumed tokens of the answer in a simulation (true tokens): at most its limit.
    pub predicted: Tokens,
    /// Name of the prompt; empty if the system writes its request itself.
    pub prompt: String,
    /// The request as a real system sends it.
    pub verbatim: Option<Arc<SummaryRequest>>,
}

impl Request {
    /// Returns the message that contains a summary.
    pub fn message(&self, summary: &str) -> Arc<str> {
        format!("{}{summary}", self.prefix).into()
    }

    /// Returns whether a summary is within the limit.
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
    /// The model called a tool instead of writing a summary.
    ToolCall,
    /// The request failed, with the reason. The policy defines how the run continues.
    Failed(String),
}

/// Answers a run's requests.
pub trait Answer {
    /// Returns the reply to a request.
    fn answer(&mut self, case: &Case, request: &Request) -> Reply;

    /// Receives the reason why the last reply was rejected, if it was a summary and not a failure.
    fn rejected(&mut self, _why: &str) {}
}
