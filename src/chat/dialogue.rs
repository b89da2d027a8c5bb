//! How a rule asks for a summary without waiting for it.
//!
//! A rule is run again from its start with every answer so far: where it asks for one more than there are, it stops
//! with [`Wants`]. So a rule that needs several summaries reads from top to bottom like the program it reproduces, and
//! stays a pure function.

use super::ChatMessage;
use std::sync::Arc;

/// A request to a model, as it would be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The messages of the request.
    pub messages: Vec<ChatMessage>,
    /// The request names the conversation's tools.
    pub with_tools: bool,
    /// Most tokens of the answer, where the system sets it.
    pub max_tokens: Option<u64>,
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A text, perhaps empty.
    Text(Arc<str>),
    /// The model called a tool in its place.
    Called,
    /// Nothing, and why.
    Failed(String),
}

/// A rule cannot go on without an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Wants(pub Box<Ask>);

/// The answers so far.
#[derive(Debug)]
pub struct Dialogue<'a> {
    answers: &'a [Heard],
    next: usize,
}

impl<'a> Dialogue<'a> {
    /// With these answers, in the order of the questions.
    pub fn new(answers: &'a [Heard]) -> Self {
        Self { answers, next: 0 }
    }

    /// The answer to a request.
    ///
    /// # Errors
    /// [`Wants`] if it is not there yet: hand it on with `?`.
    pub fn ask(&mut self, ask: Ask) -> Result<Heard, Wants> {
        let answer = self.answers.get(self.next).cloned();
        self.next += 1;
        answer.ok_or_else(|| Wants(Box::new(ask)))
    }

    /// How many requests were made so far.
    pub fn n_asked(&self) -> usize {
        self.next
    }
}

/// Runs a rule to its end, answering as it asks.
pub fn converse<T>(
    mut rule: impl FnMut(&mut Dialogue<'_>) -> Result<T, Wants>,
    mut answer: impl FnMut(&Ask) -> Heard,
) -> T {
    let mut answers = Vec::new();
    loop {
        match rule(&mut Dialogue::new(&answers)) {
            Ok(done) => return done,
            Err(Wants(ask)) => answers.push(answer(&ask)),
        }
    }
}
