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
pub(in crate::engine::run) struct NamedState {
    /// State by key, shared by the policy's actions.
    pub(in crate::engine::run) memory: Memory,
    /// Results of background actions that are applied later.
    pub(in crate::engine::run) delayed: Vec<Delayed>,
    /// The most recent stand-in for instructions that are not recorded.
    pub(in crate::engine::run) stand_in: Option<StandIn>,
}

/// A named action that waits for an answer.
#[derive(Clone, Debug)]
pub(in crate::engine::run) struct PendingAction {
    /// The first entry that it receives.
    pub(in crate::engine::run) first: usize,
    /// The messages that it received.
    pub(in crate::engine::run) before: Messages,
    /// The entries of these messages.
    pub(in crate::engine::run) spans: Arc<Spans>,
    pub(in crate::engine::run) answers: Vec<SummaryReply>,
    pub(in crate::engine::run) checkpoint: Checkpoint,
    /// Whether an answer is a stand-in.
    pub(in crate::engine::run) is_predicted: bool,
    /// Ids of entries of written summaries that its requests contained.
    pub(in crate::engine::run) shown: Vec<u32>,
    /// True size of its requests.
    pub(in crate::engine::run) requested: RequestSize,
}

/// The result of a background action.
#[derive(Debug)]
pub(in crate::engine::run) struct Delayed {
    pub(in crate::engine::run) stage: usize,
    pub(in crate::engine::run) due_at: usize,
    pub(in crate::engine::run) pending: PendingAction,
    pub(in crate::engine::run) done: Rewritten,
}

impl PendingAction {
    /// Returns whether it received the whole context and made no request.
    pub(in crate::engine::run) fn is_plain(&self) -> bool {
        self.first == 0 && self.answers.is_empty()
    }
}

/// The messages that an action left, if they differ from those that it received.
pub(in crate::engine::run) enum After {
    /// The whole conversation.
    All(Vec<ChatMessage>),
    /// Changes of single messages; all others are unchanged.
    Edits(Vec<MessageEdit>),
}
