//! The messages of a session in the shapes of agents, untouched.

use crate::chat::{ChatMessage, Replaced, Shape, join_answer, messages_of};
use crate::json::Value;
use crate::session::{Body, Message, Role, Session};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

/// Messages of a session in each shape, built at the first use and shared by all lanes.
#[derive(Debug, Default)]
pub(crate) struct Originals {
    by_shape: [OnceLock<Column>; 2],
    answers: [OnceLock<Answers>; 2],
    tools: OnceLock<Vec<Value>>,
}

/// Answers that the file splits, joined into one message each, by their first message.
type Answers = HashMap<u32, (usize, ChatMessage)>;

/// By message index.
type Column = Vec<OnceLock<Box<[ChatMessage]>>>;

impl Originals {
    /// Makes room for the messages that a growing session has now. The answers that the file splits are found again.
    pub(crate) fn grow(&mut self, n_messages: usize) {
        for column in self.by_shape.iter_mut().filter_map(OnceLock::get_mut) {
            column.resize_with(n_messages, OnceLock::new);
        }
        self.answers = Default::default();
    }

    /// Returns an untouched message.
    pub(crate) fn message<'a>(
        &'a self,
        session: &Session,
        shape: Shape,
        message: u32,
    ) -> &'a [ChatMessage] {
        let column = self.by_shape[shape as usize]
            .get_or_init(|| session.messages.iter().map(|_| OnceLock::new()).collect());
        column[message as usize].get_or_init(|| {
            let message = &session.messages[message as usize];
            messages_of(session, message, shape, |_| Replaced::Kept).into()
        })
    }

    /// Returns the answer that begins with a message and its number of session messages; none if it is not split.
    pub(crate) fn answer(
        &self,
        session: &Session,
        shape: Shape,
        message: u32,
    ) -> Option<&(usize, ChatMessage)> {
        let answers = self.answers[shape as usize].get_or_init(|| {
            let whole = |run: Range<u32>| {
                let messages = run.clone().flat_map(|m| self.message(session, shape, m));
                let messages: Vec<_> = messages.cloned().collect();
                Some((run.start, (run.len(), join_answer(&messages)?)))
            };
            split_answers(session, 0).filter_map(whole).collect()
        });
        answers.get(&message)
    }

    /// Returns the tool definitions in the file, as JSON.
    pub(crate) fn tools(&self, session: &Session) -> &[Value] {
        self.tools.get_or_init(|| {
            let json = |body: &Body| match body {
                Body::ToolDefinition { json, .. } => crate::json::from_str(json).ok(),
                _ => None,
            };
            session.parts.iter().filter_map(|p| json(&p.body)).collect()
        })
    }
}

/// Returns ranges of messages that are one answer of the model, among those from `first` on: some formats write its texts and
/// calls as separate records.
pub(crate) fn split_answers(session: &Session, first: usize) -> impl Iterator<Item = Range<u32>> {
    let is_of_one = |a: &Message, b: &Message| {
        let is_answer = |m: &Message| m.role == Role::Assistant && m.in_history;
        is_answer(a) && is_answer(b) && a.call.is_some() && a.call == b.call
    };
    let runs = session.messages[first..].chunk_by(is_of_one);
    runs.scan(first as u32, |start, run| {
        let range = *start..*start + run.len() as u32;
        *start = range.end;
        Some(range)
    })
    .filter(|range| range.len() > 1)
}
