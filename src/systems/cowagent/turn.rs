//! Start of turns: at a user's own text, as far as `CowAgent` can detect it.

use super::block::has;
use crate::chat::{ChatMessage, Content};
use std::ops::Range;

/// Returns whether a user message starts a turn: a string, or a text and no result. Hints of the agent's own do so too;
/// a message with only images does not.
pub(super) fn starts_turn(message: &ChatMessage) -> bool {
    message.is("user")
        && match &message.content {
            Content::Text(_) => true,
            Content::Blocks(_) => has(message, "text") && !has(message, "tool_result"),
            Content::Missing | Content::Null | Content::Other(_) => false,
        }
}

/// Returns the turns as ranges of messages. Messages before the first turn are a separate turn.
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
