//! Facts about the messages of a conversation.

use super::ChatMessage;

/// Returns the number of system messages at the start.
pub fn n_system(messages: &[ChatMessage]) -> usize {
    messages.iter().take_while(|m| m.is("system")).count()
}
