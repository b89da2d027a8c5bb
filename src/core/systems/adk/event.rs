//! Events of a session.

use crate::chat::{ChatMessage, Content};
use std::sync::Arc;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AdkEventKind {
    User,
    Model,
    /// All responses to the calls of one answer.
    Responses,
    /// A summary of the events within a range of time.
    Compaction {
        start: usize,
        end: usize,
    },
}

/// An event. Its time is its position in the session, from 1.
#[derive(Clone, Debug)]
pub(super) struct AdkEvent {
    pub(super) kind: AdkEventKind,
    pub(super) messages: Arc<Vec<ChatMessage>>,
    pub(super) time: usize,
    /// Number of the invocation.
    pub(super) turn: usize,
    /// Prompt of the call as reported with its answer.
    pub(super) prompt_tokens: Option<u64>,
}

impl AdkEventKind {
    /// Returns the kind of the event of a recorded message.
    pub(super) fn of(message: &ChatMessage) -> Self {
        match &*message.role {
            "assistant" => Self::Model,
            "tool" => Self::Responses,
            _ => Self::User,
        }
    }
}

impl AdkEvent {
    /// Creates an event of one message, as the first of a session.
    pub(super) fn new(kind: AdkEventKind, message: &ChatMessage) -> Self {
        Self {
            kind,
            messages: Arc::new(vec![message.clone()]),
            time: 1,
            turn: 1,
            prompt_tokens: None,
        }
    }

    /// Adds a response.
    pub(super) fn add(&mut self, response: &ChatMessage) {
        Arc::make_mut(&mut self.messages).push(response.clone());
    }

    /// Returns the range that a summary covers.
    pub(super) fn range(&self) -> Option<(usize, usize)> {
        match self.kind {
            AdkEventKind::Compaction { start, end } => Some((start, end)),
            AdkEventKind::User | AdkEventKind::Model | AdkEventKind::Responses => None,
        }
    }

    /// Returns the ids of its calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &str> {
        let calls = self.messages.iter().flat_map(ChatMessage::calls);
        let ids = calls.filter_map(|call| call.id.as_deref());
        ids.filter(|id| !id.is_empty())
    }

    /// Returns the ids of its responses.
    pub(super) fn responses(&self) -> impl Iterator<Item = &str> {
        let ids = self.messages.iter().filter_map(response_id);
        ids.filter(|id| !id.is_empty())
    }

    /// Returns whether it has content for a request.
    pub(super) fn has_content(&self) -> bool {
        match self.kind {
            AdkEventKind::Compaction { .. } | AdkEventKind::Responses => true,
            AdkEventKind::User | AdkEventKind::Model => self.messages.iter().any(|message| {
                let has_blocks =
                    matches!(&message.content, Content::Blocks(all) if !all.is_empty());
                has_blocks || !message.calls().is_empty() || !message.joined_text("").is_empty()
            }),
        }
    }
}

/// Returns the id of the call that a message answers, if it is a response.
pub(super) fn response_id(message: &ChatMessage) -> Option<&str> {
    message.call_id.as_deref().filter(|_| message.is("tool"))
}
