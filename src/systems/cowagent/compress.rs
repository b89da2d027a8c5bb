//! A turn as plain text: the first question and the last answer.

use super::block::{has, nothing, said, text_message};
use crate::chat::ChatMessage;

/// Keeps the first text of the user and the last of the assistant, if they are not empty. Removes calls, results,
/// images, thinking and every text between.
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
