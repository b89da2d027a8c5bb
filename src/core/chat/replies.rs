//! Summary requests of rules, without waiting for the replies.
//!
//! A rule is run from its start with all replies so far. If it needs another one, it returns [`PendingRequest`]. A rule that
//! needs several summaries therefore reads from top to bottom like the program it reproduces, and remains a pure
//! function. A rule that may need very many saves its state after each reply ([`Replies::save`]).

use super::ChatMessage;
use std::any::Any;
use std::sync::Arc;

/// A summary request as it would be sent to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRequest {
    /// Messages of the request.
    pub messages: Vec<ChatMessage>,
    /// Whether the request includes the conversation's tools.
    pub with_tools: bool,
    /// Maximum number of tokens of the answer, if the system sets it.
    pub max_tokens: Option<u64>,
}

/// The reply to a summary request.
#[derive(Clone, Debug, PartialEq)]
pub enum SummaryReply {
    /// A text, possibly empty.
    Text(Arc<str>),
    /// A tool call instead of a text.
    ToolCall,
    /// A failure and its reason.
    Failed(String),
}

/// A summary request without a reply: the rule needs the reply to continue.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingRequest(pub Box<SummaryRequest>);

/// The replies to a rule's summary requests so far, in the order of the requests.
#[derive(Debug)]
pub struct Replies<'a> {
    given: &'a [SummaryReply],
    next: usize,
    checkpoint: Option<&'a mut Checkpoint>,
}

/// The state of a rule after its most recent reply, so that a rule with many requests need not start again.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint(Option<(usize, Arc<dyn Any + Send + Sync>)>);

impl SummaryRequest {
    /// Creates a request without tools and without a limit for its answer.
    pub fn new(messages: Vec<ChatMessage>) -> Self {
        Self { messages, with_tools: false, max_tokens: None }
    }
}

impl SummaryReply {
    /// Returns the text. It is empty if the model called a tool.
    ///
    /// # Errors
    /// The reason of a failure.
    pub fn into_text(self) -> Result<Arc<str>, String> {
        match self {
            Self::Text(text) => Ok(text),
            Self::ToolCall => Ok(Arc::default()),
            Self::Failed(why) => Err(why),
        }
    }
}

impl<'a> Replies<'a> {
    /// Wraps replies in the order of their requests.
    pub fn new(replies: &'a [SummaryReply]) -> Self {
        Self { given: replies, next: 0, checkpoint: None }
    }

    /// Wraps replies and continues from a checkpoint of the same rule with the same input.
    pub fn continued(replies: &'a [SummaryReply], checkpoint: &'a mut Checkpoint) -> Self {
        Self { checkpoint: Some(checkpoint), ..Self::new(replies) }
    }

    /// Returns the state of the last [`Self::save`] and skips the replies before it. `None` if nothing was saved.
    pub fn restore<T: Any + Clone>(&mut self) -> Option<T> {
        let (n_asked, state) = self.checkpoint.as_ref()?.0.as_ref()?;
        let state = state.downcast_ref::<T>()?.clone();
        self.next = *n_asked;
        Some(state)
    }

    /// Saves the state after the requests so far. It must only depend on the input of the rule and their replies.
    pub fn save<T: Any + Send + Sync>(&mut self, state: T) {
        let n_asked = self.next;
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.0 = Some((n_asked, Arc::new(state)));
        }
    }

    /// Returns the reply to a request.
    ///
    /// # Errors
    /// [`PendingRequest`] if there is no reply yet. Propagate it with `?`.
    pub fn reply_to(&mut self, request: SummaryRequest) -> Result<SummaryReply, PendingRequest> {
        let reply = self.given.get(self.next).cloned();
        self.next += 1;
        reply.ok_or_else(|| PendingRequest(Box::new(request)))
    }

    /// Returns the number of requests so far.
    pub fn n_requests(&self) -> usize {
        self.next
    }
}

/// Runs a rule to its end and calls `answer` for each request.
pub fn run_with_replies<T>(
    mut rule: impl FnMut(&mut Replies<'_>) -> Result<T, PendingRequest>,
    mut answer: impl FnMut(&SummaryRequest) -> SummaryReply,
) -> T {
    let mut replies = Vec::new();
    let mut checkpoint = Checkpoint::default();
    loop {
        match rule(&mut Replies::continued(&replies, &mut checkpoint)) {
            Ok(done) => return done,
            Err(PendingRequest(request)) => replies.push(answer(&request)),
        }
    }
}
