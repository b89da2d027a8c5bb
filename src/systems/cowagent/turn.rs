//! Where turns begin: at what a person said, as far as `CowAgent` can tell.

use super::block::has;
use crate::chat::{ChatMessage, Content};
use std::ops::Range;

/// A user's message starts a turn if it is a string, or has a text and no result. Hints of the agent's own do so too;
/// a message of images only does not.
pub(super) fn starts_turn(message: &ChatMessage) -> bool {
    message.is("user")
        && match &message.content {
            Content::Text(_) => true,
            Content::Blocks(_) => has(message, "text") && !has(message, "tool_result"),
            Content::Missing | Content::Null | Content::Other(_) => false,
        }
}

/// The turns, as ranges of messages. What stands before the first is a turn of its own.
pub fn turns(messages: &[ChatMessage]) -> Vec<Range<usize>> {
    let mut turns: Vec<Range<usize>> = Vec::new();
    for (idx, message) in messages.iter().enumerate() {
        match turns.last_mut() {
            Some(turn) if !starts_turn(message) => turn.end = idx + 1,
            _ => turns.push(idx..idx + 1),
        }
    }
    turns
}
