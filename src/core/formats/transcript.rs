//! A conversation under construction, with the operations that all readers share.

use super::content::{self, CallMatcher};
use super::{Input, title};
use crate::session::{Body, CallDraft, Draft, Part, Role, Session, SessionBuilder, Span};

/// A conversation under construction.
#[derive(Debug)]
pub(super) struct Transcript {
    /// The underlying builder. Compactions are added to it directly.
    pub(super) builder: SessionBuilder,
    calls: CallMatcher,
    first_words: Option<String>,
    has_title: bool,
}

impl Transcript {
    /// Creates the conversation of a file, or one of several (`number`, from 1).
    pub(super) fn new(input: &Input, format: &'static str, number: Option<usize>) -> Self {
        Self {
            builder: SessionBuilder::new(input.source(format, number)),
            calls: CallMatcher::default(),
            first_words: None,
            has_title: false,
        }
    }

    /// Sets the title unless the text is empty.
    pub(super) fn title(&mut self, text: &str) {
        if let Some(title) = title::first_line(text) {
            self.builder.title(title);
            self.has_title = true;
        }
    }

    /// Adds a message and returns its index. Calls and results without ids are matched in order.
    pub(super) fn add_message(&mut self, mut draft: Draft) -> usize {
        self.calls.join(&mut draft.parts);
        // A command is no useful title.
        if self.first_words.as_ref().is_none_or(|w| w.starts_with('/')) && is_user_message(&draft) {
            let texts = draft.parts.iter().filter(|p| matches!(p.body, Body::Text(_)));
            let words = texts.into_iter().find_map(|p| title::first_line(p.body.text()));
            self.first_words = words.or(self.first_words.take());
        }
        self.builder.message(draft)
    }

    /// Adds a model call with its answer and returns the answer's index.
    pub(super) fn add_answer(&mut self, call: CallDraft, mut draft: Draft) -> usize {
        content::assign_reasoning(&mut draft.parts, call.usage.as_ref());
        self.builder.call(call);
        self.add_message(draft)
    }

    /// Discards the usage of the latest call, but keeps its reported reasoning tokens.
    pub(super) fn forget_usage(&mut self) {
        if let Some(call) = self.builder.last_call_mut() {
            call.usage = None;
        }
    }

    /// Appends a record with more parts to a message. Returns false if it is not the latest message.
    pub(super) fn extend(&mut self, message: usize, record: Span, mut parts: Vec<Part>) -> bool {
        if !self.is_last(message) {
            return false;
        }
        self.calls.join(&mut parts);
        self.builder.extend_last(record, parts);
        true
    }

    /// Returns whether this is the latest message.
    pub(super) fn is_last(&self, message: usize) -> bool {
        message + 1 == self.len()
    }

    /// Returns the number of messages.
    pub(super) fn len(&self) -> usize {
        self.builder.len()
    }

    /// Returns the conversation, or `None` without a message. A conversation without a title gets the user's first
    /// words.
    pub(super) fn finish(mut self) -> Option<Session> {
        if let (false, Some(words)) = (self.has_title, self.first_words.take()) {
            self.builder.title(words);
        }
        let session = self.builder.finish();
        (!session.messages.is_empty()).then_some(session)
    }
}

fn is_user_message(draft: &Draft) -> bool {
    draft.role == Role::User && draft.in_history && !draft.is_injected && !draft.is_summary
}
