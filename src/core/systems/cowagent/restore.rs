//! Restoring after a restart: the last few turns, a question and an answer each.

use super::block::{has, is, stripped_text, text_message};
use super::turn::scheduler_turns;
use crate::chat::{ChatMessage, Content, Text};
use crate::languages::python::strip;

/// The result of restoring.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// The conversation in memory.
    pub messages: Vec<ChatMessage>,
    /// Number of turns requested from the store.
    pub n_turns: usize,
    /// Number of messages that the store returned.
    pub n_loaded: usize,
}

/// Returns the number of turns to restore: a sixth of the limit, at least three; for scheduled tasks a fifth, at least
/// one.
pub fn restore_turns(max_turns: usize, session_id: &str) -> usize {
    if session_id.starts_with("scheduler_") {
        scheduler_turns(max_turns)
    } else {
        (max_turns / 6).max(3)
    }
}

/// `_restore_conversation_history`: restores a session's stored messages, from the last clearing of its context.
pub fn restore(
    stored: &[ChatMessage],
    cleared_before: usize,
    max_turns: usize,
    session_id: &str,
) -> Restored {
    let n_turns = restore_turns(max_turns, session_id);
    let since = stored.get(cleared_before..).unwrap_or_default();
    let loaded = load(since, n_turns);
    Restored { n_turns, n_loaded: loaded.len(), messages: questions_and_answers(&loaded) }
}

/// `load_messages`: returns the messages from the last `n_turns` visible user messages on, without thinking. A hint
/// that the agent wrote itself counts as visible.
pub fn load(stored: &[ChatMessage], n_turns: usize) -> Vec<ChatMessage> {
    let visible: Vec<usize> = (0..stored.len()).filter(|&idx| is_visible(&stored[idx])).collect();
    let start = match visible.len().checked_sub(n_turns) {
        Some(hidden) if hidden > 0 => visible[hidden],
        _ => 0,
    };
    stored[start..].iter().map(without_thinking).collect()
}

fn is_visible(message: &ChatMessage) -> bool {
    let has_text = message.text().is_some_and(|text| !strip(text).is_empty());
    message.is("user") && (has_text || has(message, "text"))
}

fn without_thinking(message: &ChatMessage) -> ChatMessage {
    let mut message = message.clone();
    if message.is("assistant")
        && has(&message, "thinking")
        && let Content::Blocks(blocks) = &mut message.content
    {
        blocks.retain(|block| !is(block, "thinking"));
    }
    message
}

/// Returns each turn's question and its last answer that is not empty.
fn questions_and_answers(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut turns: Vec<(Text, Option<Text>)> = Vec::new();
    for message in messages {
        let text = stripped_text(message);
        if text.text.is_empty() {
            continue;
        }
        if message.is("user") && !has(message, "tool_result") {
            turns.push((text, None));
        } else if message.is("assistant")
            && let Some((_, answer)) = turns.last_mut()
        {
            *answer = Some(text);
        }
    }
    turns
        .into_iter()
        .flat_map(|(question, answer)| {
            let answer = answer.map(|text| text_message("assistant", text));
            std::iter::once(text_message("user", question)).chain(answer)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sixth_of_the_turns_is_restored_and_at_least_three() {
        assert_eq!(restore_turns(20, "user_1"), 3);
        assert_eq!(restore_turns(60, "user_1"), 10);
        assert_eq!(restore_turns(20, "scheduler_1"), 4);
        assert_eq!(restore_turns(4, "scheduler_1"), 1);
    }
}
