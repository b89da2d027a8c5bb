//! Turns: their starts, conversion to plain text, and the limit of scheduled tasks.
//!
//! A turn starts at a user's own text, as far as `CowAgent` can detect it.

use super::block::{empty_text, has, is, stripped_text, text_message, text_of};
use crate::chat::{ChatMessage, Content};
use crate::languages::python::strip;
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

/// `compress_turn_to_text_only`: keeps the first text of the user and the last of the assistant, if they are not empty.
/// Removes calls, results, images, thinking and every text between.
pub fn compress_turn(turn: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut question = empty_text();
    let mut answer = empty_text();
    for message in turn {
        if message.is("user") {
            if question.text.is_empty() && !has(message, "tool_result") {
                question = stripped_text(message);
            }
        } else if message.is("assistant") {
            let text = stripped_text(message);
            if !text.text.is_empty() {
                answer = text;
            }
        }
    }
    [("user", question), ("assistant", answer)]
        .into_iter()
        .filter(|(_, text)| !text.text.is_empty())
        .map(|(role, text)| text_message(role, text))
        .collect()
}

/// Returns the turns that a scheduled task keeps: a fifth of the limit, at least one.
pub(super) fn scheduler_turns(max_turns: usize) -> usize {
    (max_turns / 5).max(1)
}

/// `_trim_in_memory_to_turns`: drops the messages before the last `keep` messages that contain text of a user.
pub fn trim_to_turns(messages: &mut Vec<ChatMessage>, keep: usize) {
    let user_texts: Vec<usize> =
        (0..messages.len()).filter(|&idx| has_user_text(&messages[idx])).collect();
    if keep > 0 && user_texts.len() > keep {
        messages.drain(..user_texts[user_texts.len() - keep]);
    }
}

/// Unlike a turn's start, the text must not be empty.
fn has_user_text(message: &ChatMessage) -> bool {
    message.is("user")
        && match &message.content {
            Content::Text(text) => !strip(&text.text).is_empty(),
            Content::Blocks(blocks) => {
                let has_text = blocks.iter().any(|b| is(b, "text") && !text_of(b).is_empty());
                has_text && !has(message, "tool_result")
            }
            Content::Missing | Content::Null | Content::Other(_) => false,
        }
}
