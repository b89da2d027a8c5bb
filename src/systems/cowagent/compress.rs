//! A turn as plain text: what was asked first and answered last.

use super::block::{has, nothing, said, text_message};
use crate::chat::ChatMessage;

/// The first text of the user and the last of the assistant, if they say anything. Calls, results, images and thinking
/// are gone, and so is every text between.
pub fn compress_turn(turn: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut asked = nothing();
    let mut answered = nothing();
    for message in turn {
        if message.is("user") {
            if asked.text.is_empty() && !has(message, "tool_result") {
                asked = said(message);
            }
        } else if message.is("assistant") {
            let text = said(message);
            if !text.text.is_empty() {
                answered = text;
            }
        }
    }
    [("user", asked), ("assistant", answered)]
        .into_iter()
        .filter(|(_, text)| !text.text.is_empty())
        .map(|(role, text)| text_message(role, text))
        .collect()
}
