//! What the file does not hold but every call sends (instructions, definitions of tools), as a text of the fitted weight:
//! a real system counts what it finds in its messages, and would find its own instructions there.

use super::rewrite::MessageEdit;
use super::{Case, scene};
use crate::chat::{ChatMessage, Mark, Messages, Rule};
use crate::units::Tokens;
use std::sync::Arc;

/// Characters by which the text is known again where an action has shortened it.
const HEAD: usize = 60;

/// A stand-in for what the file lacks, as the first message of a conversation.
#[derive(Clone, Debug)]
pub(super) struct StandIn {
    text: Arc<str>,
    /// The conversation's own first message, if that holds instructions.
    original: Option<ChatMessage>,
    /// The same, or a new one, with the text.
    message: ChatMessage,
    /// The conversation with it.
    with: Messages,
    /// How much of the conversation that is.
    shown: Mark,
}

impl StandIn {
    /// For a conversation; none if the file lacks nothing.
    pub(super) fn new(case: &Case, overhead: Tokens, messages: &Messages) -> Option<Self> {
        if overhead == Tokens::ZERO {
            return None;
        }
        let text = text(case, overhead);
        let is_text = |m: &&ChatMessage| m.is("system") && m.text().is_some();
        let original = messages.first().filter(is_text).cloned();
        let message = match &original {
            Some(own) => {
                let said = own.text().unwrap_or_default();
                own.with_text(beside(said, &text))
            }
            None => ChatMessage::new("system", Arc::clone(&text)),
        };
        let mut stand_in = Self {
            text,
            original,
            message,
            with: Messages::default(),
            shown: messages.mark(),
        };
        stand_in.begin(messages);
        Some(stand_in)
    }

    /// Whether it was made for a conversation that begins like this.
    pub(super) fn fits(&self, messages: &[ChatMessage]) -> bool {
        let first = messages.first();
        match &self.original {
            Some(own) => first.is_some_and(|m| m.is_copy_of(own) || m == own),
            None => !first.is_some_and(|m| m.is("system") && m.text().is_some()),
        }
    }

    /// The conversation with it.
    pub(super) fn with(&self) -> &Messages {
        &self.with
    }

    /// Puts it into a conversation that it fits.
    pub(super) fn put_in(&mut self, messages: &Messages) {
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

    /// Whether it is among the messages of a request.
    pub(super) fn is_among(&self, messages: &[ChatMessage]) -> bool {
        let is_it = |m: &ChatMessage| m.is_copy_of(&self.message) || *m == self.message;
        messages.iter().any(is_it)
    }

    /// The conversation without it, whatever an action made of it.
    pub(super) fn take_out(&self, messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
        let clean = |message| self.clean(message);
        messages.into_iter().filter_map(clean).collect()
    }

    /// Edits of the conversation with it as edits of the one without it; none where they are about it, or where more
    /// than they say would be cleaned.
    pub(super) fn take_out_edits(
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

    /// Whether something of it is in the conversation without it.
    fn is_elsewhere(&self, without: &Messages) -> bool {
        let rule = Rule {
            name: "stand-in",
            by: self.text.as_ptr() as usize,
        };
        let is_unclean = |message: &ChatMessage| {
            let clean = self.clean(message.clone());
            !clean.is_some_and(|clean| clean.is_copy_of(message))
        };
        let weigh = |message: &ChatMessage| u64::from(is_unclean(message));
        without.weigh(rule, |message| message.weigh(rule, weigh)) > 0
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
        let head = self.text.get(..HEAD).unwrap_or(&self.text);
        let is_rest_of_it = message.parts().next().is_none() && text.starts_with(head);
        (!is_rest_of_it).then_some(message)
    }
}

/// A conversation's own instructions with the text behind them.
fn beside(own: &str, text: &str) -> String {
    format!("{own}\n\n{text}")
}

/// The text, made once for each weight.
fn text(case: &Case, overhead: Tokens) -> Arc<str> {
    case.predicted("", overhead).text
}

/// Units of it on a real system's own meter, as `weigh` has it.
pub(super) fn units(case: &Case, overhead: Tokens, weigh: impl Fn(&ChatMessage) -> u64) -> u64 {
    if overhead == Tokens::ZERO {
        return 0;
    }
    let system = |text: &str| ChatMessage::new("system", text);
    let own = scene::first_instruction(case);
    let text = text(case, overhead);
    let with = match &own {
        Some(own) => system(&beside(own, &text)),
        None => system(&text),
    };
    let without = own.map_or(0, |own| weigh(&system(&own)));
    weigh(&with).saturating_sub(without)
}
