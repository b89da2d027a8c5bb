//! Summary requests of rules, without waiting for the replies.
//!
//! A rule is run from its start with all replies so far. If it needs another one, it returns [`Wants`]. A rule that
//! needs several summaries therefore reads from top to bottom like the program it reproduces, and remains a pure
//! function. A rule that may need very many saves its state after each reply ([`Dialogue::save`]).

use super::ChatMessage;
use std::any::Any;
use std::sync::Arc;

/// A request to a model, as it would be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Messages of the request.
    pub messages: Vec<ChatMessage>,
    /// Whether the request includes the conversation's tools.
    pub with_tools: bool,
    /// Maximum number of tokens of the answer, if the system sets it.
    pub max_tokens: Option<u64>,
}

/// The reply to a summary request.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A text, possibly empty.
    Text(Arc<str>),
    /// A tool call instead of a text.
    Called,
    /// A failure and its reason.
    Failed(String),
}

/// A pending summary request: the rule needs its reply to continue.
#[derive(Clone, Debug, PartialEq)]
pub struct Wants(pub Box<Ask>);

/// The replies so far.
#[derive(Debug)]
pub struct Dialogue<'a> {
    answers: &'a [Heard],
    next: usize,
    checkpoint: Option<&'a mut Checkpoint>,
}

/// The state of a rule after its most recent reply, so that a rule with many requests need not start again.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint(Option<(usize, Arc<dyn Any + Send + Sync>)>);

impl<'a> Dialogue<'a> {
    /// Creates a dialogue with these replies, in the order of the requests.
    pub fn new(answers: &'a [Heard]) -> Self {
        Self {
            answers,
            next: 0,
            checkpoint: None,
        }
    }

    /// Creates a dialogue that continues from a checkpoint of the same rule with the same input.
    pub fn continued(answers: &'a [Heard], checkpoint: &'a mut Checkpoint) -> Self {
        Self {
            checkpoint: Some(checkpoint),
            ..Self::new(answers)
        }
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
    /// [`Wants`] if there is no reply yet. Propagate it with `?`.
    pub fn ask(&mut self, ask: Ask) -> Result<Heard, Wants> {
        let answer = self.answers.get(self.next).cloned();
        self.next += 1;
        answer.ok_or_else(|| Wants(Box::new(ask)))
    }

    /// Returns the number of requests so far.
    pub fn n_asked(&self) -> usize {
        self.next
    }
}

/// Runs a rule to its end and calls `answer` for each request.
pub fn converse<T>(
    mut rule: impl FnMut(&mut Dialogue<'_>) -> Result<T, Wants>,
    mut answer: impl FnMut(&Ask) -> Heard,
) -> T {
    let mut answers = Vec::new();
    let mut checkpoint = Checkpoint::default();
    loop {
        match rule(&mut Dialogue::continued(&answers, &mut checkpoint)) {
            Ok(done) => return done,
            Err(Wants(ask)) => answers.push(answer(&ask)),
        }
    }
}
