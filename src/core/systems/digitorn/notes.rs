//! Notes that replace compacted messages.

use crate::chat::ChatMessage;

/// The wording of notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wording {
    /// As the shipped code writes them.
    #[default]
    Shipped,
    /// As the document shows them.
    Document,
}

impl Wording {
    /// Returns the note that replaces dropped messages.
    pub(super) fn dropped(self, n: usize, reminder: &str) -> ChatMessage {
        let note = match self {
            Self::Shipped => format!(
                "[Context compacted: {n} older messages removed to stay within context limits. \
                 Recent conversation preserved.]"
            ),
            Self::Document => "[Earlier messages truncated]".to_owned(),
        };
        ChatMessage::notice("system", with_reminder(note, reminder))
    }

    /// Returns the note that contains a summary.
    pub(super) fn summarized(self, n: usize, summary: &str, reminder: &str) -> ChatMessage {
        let note = match self {
            Self::Shipped => {
                format!("[Conversation summary — {n} messages compacted]:\n{summary}")
            }
            Self::Document => format!("[Summary: {summary}]"),
        };
        ChatMessage::summary("system", with_reminder(note, reminder))
    }
}

/// Appends the reminder after an empty line.
fn with_reminder(note: String, reminder: &str) -> String {
    if reminder.is_empty() { note } else { format!("{note}\n\n{reminder}") }
}

/// Joins system prompt, note and kept messages.
pub(super) fn rebuild(
    system: Option<&ChatMessage>,
    note: ChatMessage,
    kept: &[ChatMessage],
) -> Vec<ChatMessage> {
    let head = system.cloned().into_iter().chain([note]);
    head.chain(kept.iter().cloned()).collect()
}
