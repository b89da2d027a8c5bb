//! PicoClaw's store of a conversation, and its position among the messages of a replay.
//!
//! The store contains messages of the user, the assistant and tools, and one separate summary; the system prompt is
//! rebuilt for every request. A replay has instructions first, then the summary as a separate message.

use crate::chat::{ChatMessage, n_system};
use crate::session::WrittenKind;

/// Introduction of a summary in the system prompt.
pub const SUMMARY_INTRODUCTION: &str = "CONTEXT_SUMMARY: The following is an approximate summary of prior conversation for reference only. It may be incomplete or outdated — always defer to explicit instructions.\n\n";

/// A stored session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    /// Its messages.
    pub history: Vec<ChatMessage>,
    /// Its summary; may be empty.
    pub summary: String,
}

/// A stored session with the instructions before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// The parts of the system prompt that are not PicoClaw's own.
    pub instructions: Vec<ChatMessage>,
    /// The stored session.
    pub stored: Stored,
}

impl Stored {
    /// Makes a session with these messages and this summary.
    pub fn new(history: Vec<ChatMessage>, summary: impl Into<String>) -> Self {
        Self { history, summary: summary.into() }
    }

    /// Keeps only the newest messages.
    pub fn truncate_history(&mut self, keep: usize) {
        let dropped = self.history.len().saturating_sub(keep);
        self.history.drain(..dropped);
    }
}

impl Conversation {
    /// Splits a replay's messages.
    pub fn of(messages: Vec<ChatMessage>) -> Self {
        let history = history(&messages).len();
        let mut instructions = messages;
        let history = instructions.split_off(instructions.len() - history);
        let mut summary = String::new();
        instructions.retain(|message| match summary_in(message) {
            Some(text) => {
                text.clone_into(&mut summary);
                false
            }
            None => true,
        });
        Self { instructions, stored: Stored { history, summary } }
    }

    /// Returns the messages in the order of a replay.
    pub fn into_messages(self) -> Vec<ChatMessage> {
        let Self { instructions, stored } = self;
        let has_summary = !stored.summary.is_empty();
        let summary =
            has_summary.then(|| ChatMessage::summary("system", summary_part(&stored.summary)));
        let mut messages = instructions;
        messages.extend(summary);
        messages.extend(stored.history);
        messages
    }
}

/// Returns the stored history among a replay's messages: all after the instructions.
pub fn history(messages: &[ChatMessage]) -> &[ChatMessage] {
    let n_system = n_system(messages);
    &messages[n_system..]
}

/// Returns the summary as a part of the system prompt.
pub fn summary_part(summary: &str) -> String {
    format!("{SUMMARY_INTRODUCTION}{summary}")
}

/// Returns the summary in a message that a policy wrote.
fn summary_in(message: &ChatMessage) -> Option<&str> {
    let is_ours = message.written == Some(WrittenKind::Summary);
    let text = message.text().filter(|_| is_ours)?;
    Some(text.strip_prefix(SUMMARY_INTRODUCTION).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_removed_and_inserted_at_the_same_position() {
        let given = [ChatMessage::new("system", "Be brief."), ChatMessage::new("user", "hi")];
        let mut conversation = Conversation::of(given.to_vec());
        assert_eq!(conversation.stored.summary, "");
        "earlier".clone_into(&mut conversation.stored.summary);
        let messages = conversation.clone().into_messages();
        assert_eq!(messages[1].text(), Some(summary_part("earlier").as_str()));
        assert_eq!(Conversation::of(messages), conversation);
    }
}
