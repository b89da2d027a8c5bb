//! The messages as the SDK stores them, and which of them are pinned.

use crate::chat::{ChatMessage, n_system};
use crate::engine::Memory;
use crate::json::{Value, json};

/// Key of the pinned parts, in memory.
const PINS: &str = "strands_pins";

/// A message as the SDK stores it: one message, or all results of one answer.
pub(super) type StoredMessage<'a> = &'a [ChatMessage];

/// Returns the number of instructions, and the conversation behind them.
pub(super) fn stored_messages(all: &[ChatMessage]) -> (usize, Vec<StoredMessage<'_>>) {
    let n_system = n_system(all);
    let are_one = |a: &ChatMessage, b: &ChatMessage| a.is("tool") && b.is("tool");
    (n_system, all[n_system..].chunk_by(are_one).collect())
}

/// Returns whether a message holds results.
pub(super) fn has_results(message: StoredMessage<'_>) -> bool {
    message.iter().any(|m| m.is("tool"))
}

/// Returns whether a message holds calls.
pub(super) fn has_calls(message: StoredMessage<'_>) -> bool {
    message.iter().any(|m| !m.calls().is_empty())
}

/// The parts of the pinned messages. The first reduction pins them; later ones do not change them.
pub(super) struct Pins {
    parts: Vec<u32>,
    /// Whether this reduction pins messages.
    pub(super) are_new: bool,
}

impl Pins {
    /// Returns the pins of the first reduction. The first reduction pins the first messages.
    pub(super) fn new(memory: &Memory, stored: &[StoredMessage<'_>], pin_first: usize) -> Self {
        if let Some(known) = memory[PINS].as_array() {
            let parts = known.iter().filter_map(Value::as_u64);
            return Self { parts: parts.map(|part| part as u32).collect(), are_new: false };
        }
        let first = stored.iter().take(pin_first).copied().flatten();
        let parts: Vec<u32> = first.flat_map(ChatMessage::parts).collect();
        Self { are_new: !parts.is_empty(), parts }
    }

    /// Returns the pins for an action's memory.
    pub(super) fn to_memory(&self) -> Memory {
        json!({PINS: self.parts}).into()
    }

    /// Returns whether a message is pinned. An answer with calls and the message with their results are pinned together.
    pub(super) fn contain(&self, stored: &[StoredMessage<'_>], at: usize) -> bool {
        let is_flagged = |message: StoredMessage<'_>| {
            let mut parts = message.iter().flat_map(ChatMessage::parts);
            parts.any(|part| self.parts.contains(&part))
        };
        if self.parts.is_empty() || is_flagged(stored[at]) {
            return !self.parts.is_empty();
        }
        let before = at.checked_sub(1).map(|before| stored[before]);
        let neighbors = [before, stored.get(at + 1).copied()];
        let mut neighbors = neighbors.into_iter().flatten();
        neighbors.any(|neighbor| is_flagged(neighbor) && share_a_call(stored[at], neighbor))
    }
}

/// Returns whether two messages have a call in common.
fn share_a_call(a: StoredMessage<'_>, b: StoredMessage<'_>) -> bool {
    ids(a).any(|id| ids(b).any(|other| other == id))
}

/// Returns the ids of the calls and results of a message.
fn ids(message: StoredMessage<'_>) -> impl Iterator<Item = &str> {
    let of_calls = message.iter().flat_map(|m: &ChatMessage| m.calls());
    let of_calls = of_calls.filter_map(|call| call.id.as_deref());
    let of_results = message.iter().filter_map(|m| m.call_id.as_deref());
    of_calls.chain(of_results).filter(|id| !id.is_empty())
}
