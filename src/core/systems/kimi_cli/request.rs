//! The summary request: one user message that lists the texts of the old messages.

use crate::chat::{Block, ChatMessage, Content, SummaryRequest};
use std::sync::Arc;

const SYSTEM: &str = "You are a helpful assistant that compacts conversation context.";
const PROMPT: &str = include_str!("prompt.txt");

/// Returns the request for a summary of messages. Calls, images and reasoning are omitted.
pub(super) fn summary_request(old: &[ChatMessage]) -> SummaryRequest {
    let mut parts: Vec<Arc<str>> = Vec::new();
    for (nth, message) in old.iter().enumerate() {
        let (number, role) = (nth + 1, &message.role);
        parts.push(format!("## Message {number}\nRole: {role}\nContent:\n").into());
        match &message.content {
            // An answer without text has no part.
            Content::Text(text) if !text.text.is_empty() => parts.push(Arc::clone(&text.text)),
            Content::Blocks(blocks) => {
                parts.extend(blocks.iter().filter_map(Block::as_text).map(Arc::from));
            }
            _ => {}
        }
    }
    parts.push(format!("\n{PROMPT}").into());
    SummaryRequest::new(vec![
        ChatMessage::new("system", SYSTEM),
        of_parts(ChatMessage::new("user", ""), parts),
    ])
}

/// Returns a message with these texts as its content.
pub(super) fn of_parts(mut message: ChatMessage, mut parts: Vec<Arc<str>>) -> ChatMessage {
    message.content = match parts.len() {
        1 => Content::text(parts.remove(0)),
        _ => Content::Blocks(parts.into_iter().map(Block::text).collect()),
    };
    message
}
