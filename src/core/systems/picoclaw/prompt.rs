//! Assembly of a request: one system message of parts, the history that may be sent, the current user message.

use super::edition::Edition;
use super::message::{media_of, text_of};
use super::sanitize::sanitize;
use super::store::{Conversation, Stored, summary_part};
use crate::chat::ChatMessage;
use crate::json::{Value, json};

/// Separator of the parts of the system prompt.
const SEPARATOR: &str = "\n\n---\n\n";

/// Parts of a request in addition to the stored session.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Parts of the system prompt before the summary.
    pub instructions: Vec<String>,
    /// The current user message, if it is not yet stored.
    pub current: Option<ChatMessage>,
    /// The edition whose rules select what is sent.
    pub edition: Edition,
}

impl Prompt {
    /// Makes the prompt of a replayed conversation.
    pub fn of(conversation: &Conversation, edition: Edition) -> Self {
        let instructions = conversation.instructions.iter();
        Self {
            instructions: instructions.map(|m| text_of(m).into_owned()).collect(),
            current: None,
            edition,
        }
    }

    /// Returns the single system message: its parts joined, and also the parts themselves. `None` without any part.
    pub fn system(&self, summary: &str) -> Option<ChatMessage> {
        let mut parts = self.instructions.clone();
        if !summary.is_empty() {
            parts.push(summary_part(summary));
        }
        if parts.is_empty() {
            return None;
        }
        let mut message = ChatMessage::new("system", parts.join(SEPARATOR));
        let blocks: Value =
            parts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        message.rest.insert("system_parts".to_owned(), blocks);
        Some(message)
    }

    /// Returns the request as it is sent.
    pub fn request(&self, stored: &Stored) -> Vec<ChatMessage> {
        let mut sent = stored.history.clone();
        sanitize(&mut sent, self.edition);
        let mut request: Vec<_> = self.system(&stored.summary).into_iter().collect();
        request.append(&mut sent);
        request.extend(self.sent_current().cloned());
        request
    }

    /// Returns the current user message if it is sent: a blank text is not, unless (as built) it has media.
    pub fn sent_current(&self) -> Option<&ChatMessage> {
        self.current.as_ref().filter(|message| {
            let says = !text_of(message).trim().is_empty();
            says || (self.edition == Edition::After && media_of(message) > 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_without_a_text_are_sent_as_built_only() {
        let mut message = ChatMessage::new("user", " \n");
        message.rest.insert("media".to_owned(), json!(["a.png"]));
        let sent = |edition| {
            let current = Some(message.clone());
            let instructions = vec!["Be brief.".to_owned()];
            let prompt = Prompt { instructions, current, edition };
            prompt.request(&Stored::default()).len()
        };
        assert_eq!(sent(Edition::Before), 1);
        assert_eq!(sent(Edition::After), 2);
    }
}
