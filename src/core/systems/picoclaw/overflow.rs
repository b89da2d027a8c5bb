//! Handling of an oversized request, as built: before the first call of a turn, and after a rejection.
//!
//! Never removes messages of the current turn.

use super::budget::{Budget, Trimmed, trim_to_fit};
use super::force_compression::{Compressed, force_compression};
use super::message::are_equivalent;
use super::prompt::Prompt;
use super::{Settings, Stored};
use crate::chat::ChatMessage;

/// Log line for an oversized request.
pub const EXCEEDED: &str = "Proactive compression: context budget exceeded before LLM call";

/// Log line if history was left out of the request.
pub const TRIMMED: &str = "Trimmed rebuilt history after proactive compaction";

/// Log line if the request is still too large; the call is made anyway.
pub const STILL_EXCEEDED: &str = "Context still exceeds budget after proactive compaction rebuild";

/// Checks the request, and compresses the store by force if it is too large.
pub fn compact_if_over(
    prompt: &Prompt,
    stored: &Stored,
    tool_tokens: u64,
    settings: &Settings,
) -> (Budget, Option<Compressed>) {
    let budget = Budget::of(prompt, stored, tool_tokens, settings);
    let compressed = budget.is_over().then(|| force_compression(stored, prompt.edition));
    (budget, compressed.flatten())
}

/// Message to the user at the first rejection.
pub const COMPRESSING: &str = "Context window exceeded. Compressing history and retrying...";

/// Log line at each rejection.
pub const DETECTED: &str = "Context window error detected, attempting compression";

/// The error that ends the turn.
pub const REFUSED: &str =
    "context window still exceeded after retry compaction; refusing to drop active turn messages";

/// A request built again after a refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// The compressed store; `None` if it was too short to compress.
    pub compressed: Option<Compressed>,
    /// The trimmed request. If it does not fit, the turn ends with [`REFUSED`].
    pub trimmed: Trimmed,
    /// Number of messages of the current turn found in the history.
    pub protected: usize,
}

/// Returns how many messages at the end of the history are the newest of those that the current turn stored.
pub fn active_messages(history: &[ChatMessage], turn: &[ChatMessage]) -> usize {
    let newest = |messages: &[ChatMessage], n: usize| messages.len() - n;
    let matches = |n: &usize| {
        let (history, turn) = (&history[newest(history, *n)..], &turn[newest(turn, *n)..]);
        history.iter().zip(turn).all(|(a, b)| are_equivalent(a, b))
    };
    let most = history.len().min(turn.len());
    (1..=most).rev().find(matches).unwrap_or(0)
}

/// Compresses the store by force and trims messages before the current turn.
pub fn rebuild_after_refusal(
    prompt: &Prompt,
    stored: &Stored,
    turn: &[ChatMessage],
    tool_tokens: u64,
    settings: &Settings,
) -> Retry {
    let compressed = force_compression(stored, prompt.edition);
    let mut stable = compressed.as_ref().map_or_else(|| stored.clone(), |done| done.stored.clone());
    let protected = active_messages(&stable.history, turn);
    let active = stable.history.split_off(stable.history.len() - protected);
    Retry {
        trimmed: trim_to_fit(prompt, &stable, &active, tool_tokens, settings),
        compressed,
        protected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_messages(texts: &[&str]) -> Vec<ChatMessage> {
        texts.iter().map(|text| ChatMessage::new("user", *text)).collect()
    }

    #[test]
    fn the_longest_common_end_is_the_current_turn() {
        assert_eq!(
            active_messages(&user_messages(&["a", "b", "c"]), &user_messages(&["b", "c"])),
            2
        );
        assert_eq!(active_messages(&user_messages(&["c"]), &user_messages(&["b", "c"])), 1);
        assert_eq!(active_messages(&user_messages(&["a", "b"]), &user_messages(&["b", "c"])), 0);
        assert_eq!(active_messages(&user_messages(&["a"]), &[]), 0);
    }
}
