//! State of named actions during a run.

use crate::chat::{ChatMessage, Checkpoint, Messages, SummaryReply};
use crate::engine::agent_messages::messages::Spans;
use crate::engine::agent_messages::stand_in::StandIn;
use crate::engine::named::Rewritten;
use crate::engine::named::edits::MessageEdit;
use crate::engine::named::memory::Memory;
use crate::engine::outcome::event::RequestSize;
use std::sync::Arc;

/// State of named actions during a run.
#[derive(Debug, Default)]
pub(crate) struct NamedState {
    /// State by key, shared by the policy's actions.
    pub(crate) memory: Memory,
    /// Results of background actions that are applied later.
    pub(crate) delayed: Vec<Delayed>,
    /// The most recent stand-in for instructions that are not recorded.
    pub(crate) stand_in: Option<StandIn>,
}

/// A named action that waits for an answer.
#[derive(Clone, Debug)]
pub(crate) struct PendingAction {
    /// The first entry that it receives.
    pub(crate) first: usize,
    /// The messages that it received.
    pub(crate) before: Messages,
    /// The entries of these messages.
    pub(crate) spans: Arc<Spans>,
    pub(crate) answers: Vec<SummaryReply>,
    pub(crate) checkpoint: Checkpoint,
    /// Whether an answer is a stand-in.
    pub(crate) is_predicted: bool,
    /// Ids of entries of written summaries that its requests contained.
    pub(crate) shown: Vec<u32>,
    /// True size of its requests.
    pub(crate) requested: RequestSize,
}

/// The result of a background action.
#[derive(Debug)]
pub(crate) struct Delayed {
    pub(crate) stage: usize,
    pub(crate) due_at: usize,
    pub(crate) pending: PendingAction,
    pub(crate) done: Rewritten,
}

impl PendingAction {
    /// Returns whether it received the whole context and made no request.
    pub(crate) fn is_plain(&self) -> bool {
        self.first == 0 && self.answers.is_empty()
    }
}

/// The messages that an action left, if they differ from those that it received.
pub(crate) enum After {
    /// The whole conversation.
    All(Vec<ChatMessage>),
    /// Changes of single messages; all others are unchanged.
    Edits(Vec<MessageEdit>),
}
