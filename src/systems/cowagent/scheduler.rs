//! Cuts sessions of scheduled tasks to a few turns before each run.

use super::block::{has, is, strip, text_of};
use crate::chat::{ChatMessage, Content};

/// Returns the turns that a scheduled task keeps: a fifth of the limit, at least one.
pub fn scheduler_turns(max_turns: usize) -> usize {
    (max_turns / 5).max(1)
}

/// Drops the messages before the last `keep` messages that contain text of a user.
pub fn trim_to_turns(messages: &mut Vec<ChatMessage>, keep: usize) {
    let spoken: Vec<usize> = (0..messages.len())
        .filter(|&idx| is_real_user(&messages[idx]))
        .collect();
    if keep > 0 && spoken.len() > keep {
        messages.drain(..spoken[spoken.len() - keep]);
    }
}

/// Unlike a turn's start, the text must not be empty.
fn is_real_user(message: &ChatMessage) -> bool {
    message.is("user")
        && match &message.content {
            Content::Text(text) => !strip(&text.text).is_empty(),
            Content::Blocks(blocks) => {
                let speaks = blocks
                    .iter()
                    .any(|b| is(b, "text") && !text_of(b).is_empty());
                speaks && !has(message, "tool_result")
            }
            Content::Missing | Content::Null | Content::Other(_) => false,
        }
}
