//! The messages from which a turn's requests were built.
//!
//! PicoClaw builds a request once a turn, and again after a rejection; in between it appends the turn's new messages
//! unchanged. A replay asks for every request, so the decision is stored until the turn ends or the store is rewritten.

use crate::chat::{ChatMessage, Messages, Rule};
use crate::engine::MessageEdit;
use crate::systems::picoclaw::store::history;

const BUILT_FROM: Rule = Rule::new("picoclaw.messages_built_from");

/// The state from which a request was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BuiltRequest {
    /// The turn.
    turn: u32,
    /// The part that the turn started with.
    turn_part: u32,
    /// The newest part at that time.
    up_to: u32,
    /// Number of messages at that time.
    pub(super) messages: usize,
    /// The oldest part that was sent; 0 if none was left out.
    from_part: u32,
}

impl BuiltRequest {
    /// Builds from a whole history.
    pub(super) fn new(history: &[ChatMessage], turn: u32, before: Option<&Self>) -> Self {
        let up_to = history.iter().flat_map(ChatMessage::parts).max().unwrap_or(0);
        let last_user = history.iter().rfind(|m| m.is("user"));
        let started = last_user.or(history.last()).map_or(0, first_part);
        let turn_part = before.filter(|b| b.turn == turn).map(|b| b.turn_part);
        let mut built = Self {
            turn,
            turn_part: turn_part.unwrap_or(started),
            up_to,
            messages: 0,
            from_part: 0,
        };
        built.messages = built.count(history);
        built
    }

    /// Returns whether it was built in this turn and the store was not rewritten since. `messages` are a replay's,
    /// instructions included. Looks only at messages added since the last call.
    pub(super) fn is_current(&self, messages: &Messages, turn: u32) -> bool {
        /// Messages read, and messages at the start of the history that existed when the request was built.
        #[derive(Clone, Default)]
        struct Count {
            up_to: u32,
            n_read: usize,
            history: usize,
            is_over: bool,
        }
        if self.turn != turn {
            return false;
        }
        let count = messages.updated_state(BUILT_FROM, |count: &mut Count, messages| {
            if count.up_to != self.up_to {
                *count = Count { up_to: self.up_to, ..Count::default() };
            }
            for message in &messages[count.n_read..] {
                if count.history > 0 || !message.is("system") {
                    count.is_over |= !self.existed(message);
                    count.history += usize::from(!count.is_over);
                }
            }
            count.n_read = messages.len();
        });
        count.history == self.messages
    }

    /// Counts the messages at the start of a history that existed at that time.
    fn count(&self, history: &[ChatMessage]) -> usize {
        history.iter().take_while(|m| self.existed(m)).count()
    }

    fn existed(&self, message: &ChatMessage) -> bool {
        message.parts().all(|part| part <= self.up_to)
    }

    /// Returns the index at which the current turn starts.
    pub(super) fn turn_start(&self, history: &[ChatMessage]) -> usize {
        let of_turn = |m: &ChatMessage| m.parts().min().is_some_and(|part| part >= self.turn_part);
        history.iter().position(of_turn).unwrap_or(history.len())
    }

    /// Leaves out the messages before this message of the history.
    pub(super) fn leave_out(&mut self, history: &[ChatMessage], before: usize) {
        if before > 0 {
            self.from_part = history.get(before).map_or(self.up_to + 1, first_part);
        }
    }

    /// Returns the number of messages left out at the start of a history.
    pub(super) fn left_out(&self, history: &[ChatMessage]) -> usize {
        let is_sent = |m: &ChatMessage| m.parts().any(|part| part >= self.from_part);
        match self.from_part {
            0 => 0,
            _ => history.iter().position(is_sent).unwrap_or(history.len()),
        }
    }
}

/// Returns the oldest part in a message.
fn first_part(message: &ChatMessage) -> u32 {
    message.parts().min().unwrap_or(0)
}

/// Returns the edits that omit messages of the history (by ascending index) from a replay's messages.
pub(super) fn leave_out(
    messages: &[ChatMessage],
    left_out: impl IntoIterator<Item = usize>,
) -> Vec<MessageEdit> {
    let n_instructions = messages.len() - history(messages).len();
    let edit = |idx| MessageEdit { at: n_instructions + idx, now: None };
    left_out.into_iter().map(edit).collect()
}

/// Removes and returns the current user message, which is stored only after the turn's first request is built.
pub(super) fn split_current(history: &mut Vec<ChatMessage>) -> Option<ChatMessage> {
    history.pop_if(|message| message.is("user"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Content, Fields, Text};

    fn history(parts: &[u32]) -> Vec<ChatMessage> {
        let message = |part: &u32| {
            ChatMessage::from(Fields {
                content: Content::Text(Text { text: "said".into(), part: Some(*part) }),
                ..ChatMessage::new(if part.is_multiple_of(10) { "user" } else { "assistant" }, "")
                    .into_fields()
            })
        };
        parts.iter().map(message).collect()
    }

    #[test]
    fn a_request_is_current_while_its_turn_only_adds_messages() {
        let built = BuiltRequest::new(&history(&[0, 1, 10]), 2, None);
        let is_current = |parts: &[u32], turn| built.is_current(&history(parts).into(), turn);
        assert!(is_current(&[0, 1, 10, 11, 12], 2));
        assert!(!is_current(&[0, 1, 10, 11], 3), "another turn");
        assert!(!is_current(&[1, 10, 11], 2), "a message is gone");
    }

    #[test]
    fn omitted_messages_stay_omitted_in_the_same_turn() {
        let at_first = history(&[0, 1, 10]);
        let mut built = BuiltRequest::new(&at_first, 2, None);
        assert_eq!((built.turn_start(&at_first), built.left_out(&at_first)), (2, 0));
        built.leave_out(&at_first, 2);
        assert_eq!(built.left_out(&history(&[0, 1, 10, 11])), 2);
        built.leave_out(&at_first, 3);
        assert_eq!(built.left_out(&at_first), 3);
        assert_eq!(built.left_out(&history(&[0, 1, 10, 11])), 3);
    }

    #[test]
    fn a_rebuilt_request_keeps_the_start_of_its_turn() {
        let first = BuiltRequest::new(&history(&[0, 1, 10]), 2, None);
        let later = history(&[1, 10, 11, 12]);
        let again = BuiltRequest::new(&later, 2, Some(&first));
        assert_eq!(again.turn_start(&later), 1);
        assert_eq!(again.messages, 4);
    }
}
