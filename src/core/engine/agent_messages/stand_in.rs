//! Content that is not recorded but sent with every call (instructions, tool definitions), as a text of the calibrated
//! weight. A real system counts its messages, which would include its own instructions.

use super::messages::first_instruction;
use crate::chat::{ChatMessage, Mark, Messages, Rule};
use crate::engine::case::Case;
use crate::engine::named::edits::MessageEdit;
use crate::units::Tokens;
use std::sync::Arc;

/// Number of leading bytes that identify the text after an action has shortened it. The text is one word, repeated: no
/// recorded text repeats it fifteen times in a row.
const IDENTIFYING_BYTES: usize = 60;

/// A stand-in for content that is not recorded, as the first message of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct StandIn {
    text: Arc<str>,
    /// The conversation's own first message, if it contains instructions.
    original: Option<ChatMessage>,
    /// `original` with `text` added, or a new message.
    message: ChatMessage,
    /// The conversation with it.
    with: Messages,
    /// The part of the conversation that `with` contains.
    shown: Mark,
}

impl StandIn {
    /// Creates the stand-in for a conversation; none if all content is recorded.
    pub(crate) fn new(case: &Case, overhead: Tokens, messages: &Messages) -> Option<Self> {
        if overhead == Tokens::ZERO {
            return None;
        }
        let text = text(case, overhead);
        let is_text = |m: &&ChatMessage| m.is("system") && m.text().is_some();
        let original = messages.first().filter(is_text).cloned();
        let message = match &original {
            Some(own) => {
                let own_text = own.text().unwrap_or_default();
                own.with_text(appended(own_text, &text))
            }
            None => ChatMessage::new("system", Arc::clone(&text)),
        };
        let mut stand_in =
            Self { text, original, message, with: Messages::default(), shown: messages.mark() };
        stand_in.begin(messages);
        Some(stand_in)
    }

    /// Returns whether it was created for a conversation with this beginning.
    pub(crate) fn fits(&self, messages: &[ChatMessage]) -> bool {
        let first = messages.first();
        match &self.original {
            Some(own) => first.is_some_and(|m| m.is_copy_of(own) || m == own),
            None => !first.is_some_and(|m| m.is("system") && m.text().is_some()),
        }
    }

    /// Returns the conversation with it.
    pub(crate) fn with(&self) -> &Messages {
        &self.with
    }

    /// Adds it to a conversation that it fits.
    pub(crate) fn put_in(&mut self, messages: &Messages) {
        match messages.since(&self.shown) {
            Some([]) => return,
            Some(new) => self.with.grow(new.iter().cloned()),
            None => self.begin(messages),
        }
        self.shown = messages.mark();
    }

    fn begin(&mut self, messages: &Messages) {
        let rest = &messages[usize::from(self.original.is_some())..];
        let with = std::iter::once(&self.message).chain(rest);
        self.with = with.cloned().collect::<Vec<_>>().into();
        self.shown = messages.mark();
    }

    /// Returns whether the messages of a request contain it.
    pub(crate) fn is_among(&self, messages: &[ChatMessage]) -> bool {
        let is_it = |m: &ChatMessage| m.is_copy_of(&self.message) || *m == self.message;
        messages.iter().any(is_it)
    }

    /// Removes it from a conversation that an action changed.
    pub(crate) fn take_out(&self, messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
        let clean = |message: ChatMessage| {
            if self.is_clean(&message) { Some(message) } else { self.clean(message) }
        };
        messages.into_iter().filter_map(clean).collect()
    }

    /// Converts edits of the conversation with it to edits of the one without it. Returns none if they change it, or if
    /// more than the edited messages would have to be cleaned.
    pub(crate) fn take_out_edits(
        &self,
        without: &Messages,
        edits: &[MessageEdit],
    ) -> Option<Vec<MessageEdit>> {
        let is_new = usize::from(self.original.is_none());
        if edits.first().is_some_and(|edit| edit.at == 0) || self.is_elsewhere(without) {
            return None;
        }
        let edit = |edit: &MessageEdit| MessageEdit {
            at: edit.at - is_new,
            now: edit.now.clone().and_then(|now| self.clean(now)),
        };
        Some(edits.iter().map(edit).collect())
    }

    /// Returns whether the conversation without it contains a part of it.
    fn is_elsewhere(&self, without: &Messages) -> bool {
        let weigh = |message: &ChatMessage| u64::from(!self.is_clean(message));
        without.weigh(self.rule(), weigh) > 0
    }

    /// Returns whether a message contains no part of it. Computes it once for each message.
    fn is_clean(&self, message: &ChatMessage) -> bool {
        let weigh = |message: &ChatMessage| {
            let clean = self.clean(message.clone());
            u64::from(!clean.is_some_and(|clean| clean.is_copy_of(message)))
        };
        message.weigh(self.rule(), weigh) == 0
    }

    fn rule(&self) -> Rule {
        Rule { name: "stand-in", by: self.text.as_ptr() as usize }
    }

    fn clean(&self, message: ChatMessage) -> Option<ChatMessage> {
        if message.is_copy_of(&self.message) || message == self.message {
            return self.original.clone();
        }
        let Some(text) = message.text() else {
            return Some(message);
        };
        if text.contains(&*self.text) {
            let rest = text.replacen(&*self.text, "", 1);
            return (!rest.trim().is_empty()).then(|| message.with_text(rest.trim_end()));
        }
        let head = self.text.get(..IDENTIFYING_BYTES).unwrap_or(&self.text);
        let is_rest_of_it = message.parts().next().is_none() && text.starts_with(head);
        (!is_rest_of_it).then_some(message)
    }
}

/// Returns a conversation's own instructions followed by the text.
fn appended(own: &str, text: &str) -> String {
    format!("{own}\n\n{text}")
}

/// Returns the text, which is built once for each weight.
fn text(case: &Case, overhead: Tokens) -> Arc<str> {
    case.predicted("", overhead).text
}

/// Returns its units on a real system's own meter, given by `weigh`.
pub(crate) fn units(case: &Case, overhead: Tokens, weigh: impl Fn(&ChatMessage) -> u64) -> u64 {
    if overhead == Tokens::ZERO {
        return 0;
    }
    let system = |text: &str| ChatMessage::new("system", text);
    let own = first_instruction(case);
    let text = text(case, overhead);
    let with = match &own {
        Some(own) => system(&appended(own, &text)),
        None => system(&text),
    };
    let without = own.map_or(0, |own| weigh(&system(&own)));
    weigh(&with).saturating_sub(without)
}
