//! The difference of the contexts of two calls: the messages that entered, left and changed, and the prefix that both
//! share.

use crate::engine::{Context, Entry, EntryBody};
use crate::session::WrittenKind;
use crate::units::Tokens;
use std::collections::{HashMap, HashSet};

/// The difference of two contexts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextDifference {
    /// Messages that entered, left or changed: those of the earlier context first, each in the order of its context.
    pub messages: Vec<ChangedMessage>,
    /// True tokens of both contexts.
    pub tokens: [Tokens; 2],
    /// True tokens of the prefix that both contexts share.
    pub prefix: Tokens,
    /// The first message of the earlier context after the common prefix; `None` if the later one repeats all of it.
    pub first_changed: Option<MessageRef>,
}

/// A message that one context has and the other has not, or has with other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedMessage {
    /// The message.
    pub message: MessageRef,
    /// Its true tokens in the earlier context; `None` if it entered.
    pub before: Option<Tokens>,
    /// Its true tokens in the later context; `None` if it left.
    pub after: Option<Tokens>,
}

/// A message of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRef {
    /// A message of the session, by its index.
    Recorded(usize),
    /// A message that the policy wrote.
    Written(WrittenKind),
}

/// A way in which a message can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Only the later context has it.
    Entered,
    /// Only the earlier context has it.
    Left,
    /// Both have it, with different content.
    Changed,
}

impl Change {
    /// All changes, in display order.
    pub const ALL: [Self; 3] = [Self::Entered, Self::Left, Self::Changed];
}

impl ChangedMessage {
    /// Returns the kind of the change.
    pub fn change(&self) -> Change {
        match (self.before, self.after) {
            (None, _) => Change::Entered,
            (_, None) => Change::Left,
            _ => Change::Changed,
        }
    }
}

impl ContextDifference {
    /// Compares two contexts of one run.
    pub fn new(before: &Context, after: &Context) -> Self {
        let old: HashSet<u32> = before.entries.iter().map(|entry| entry.id).collect();
        let new: HashMap<u32, &Entry> = after.entries.iter().map(|e| (e.id, e)).collect();
        let tokens = |entry: &Entry| Some(Tokens::from(entry.tokens));
        let left_or_changed = before.entries.iter().filter_map(|entry| {
            let later = new.get(&entry.id).copied();
            let is_same = later.is_some_and(|later| entry.is_unchanged_in(later));
            (!is_same).then(|| ChangedMessage {
                message: reference(entry),
                before: tokens(entry),
                after: later.and_then(tokens),
            })
        });
        let entered = after.entries.iter();
        let entered = entered.filter(|entry| !old.contains(&entry.id));
        let entered = entered.map(|entry| ChangedMessage {
            message: reference(entry),
            before: None,
            after: tokens(entry),
        });
        let (n_same, prefix) = before.common_prefix(after);
        Self {
            messages: left_or_changed.chain(entered).collect(),
            tokens: [before.tokens(), after.tokens()],
            prefix,
            first_changed: before.entries.get(n_same).map(reference),
        }
    }

    /// Returns the number of messages with a change, and their tokens: in the later context if they entered, else in
    /// the earlier one.
    pub fn count(&self, change: Change) -> (usize, Tokens) {
        let of_it = self.messages.iter().filter(|m| m.change() == change);
        of_it.fold((0, Tokens::ZERO), |(n, sum), message| {
            let tokens = message.before.or(message.after);
            (n + 1, sum + tokens.unwrap_or_default())
        })
    }
}

fn reference(entry: &Entry) -> MessageRef {
    match &entry.body {
        EntryBody::Original(message) => MessageRef::Recorded(*message as usize),
        EntryBody::Edited(edited) => MessageRef::Recorded(edited.message as usize),
        EntryBody::Written(written) => MessageRef::Written(written.kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(message: u32, tokens: u32) -> Entry {
        Entry { id: message, tokens, metered: tokens, body: EntryBody::Original(message) }
    }

    fn context(entries: &[(u32, u32)]) -> Context {
        Context {
            entries: entries.iter().map(|(m, t)| entry(*m, *t)).collect(),
            overhead: Tokens(100),
            ..Context::default()
        }
    }

    #[test]
    fn entered_left_and_changed_messages_are_listed_with_the_common_prefix() {
        let before = context(&[(0, 5), (1, 20), (2, 30), (3, 7)]);
        let after = context(&[(0, 5), (2, 4), (3, 7), (4, 9)]);
        let found = ContextDifference::new(&before, &after);
        let message = |message, before: Option<u64>, after: Option<u64>| ChangedMessage {
            message: MessageRef::Recorded(message),
            before: before.map(Tokens),
            after: after.map(Tokens),
        };
        let expected =
            [message(1, Some(20), None), message(2, Some(30), Some(4)), message(4, None, Some(9))];
        assert_eq!(found.messages, expected);
        assert_eq!(found.tokens, [Tokens(162), Tokens(125)]);
        assert_eq!(found.prefix, Tokens(105));
        assert_eq!(found.first_changed, Some(MessageRef::Recorded(1)));
        let counts = Change::ALL.map(|change| found.count(change));
        assert_eq!(counts, [(1, Tokens(9)), (1, Tokens(20)), (1, Tokens(30))]);
    }

    #[test]
    fn a_context_that_only_grows_keeps_its_whole_prefix() {
        let before = context(&[(0, 5), (1, 20)]);
        let found = ContextDifference::new(&before, &context(&[(0, 5), (1, 20), (2, 3)]));
        assert_eq!((found.prefix, found.first_changed), (Tokens(125), None));
        assert_eq!(found.prefix, found.tokens[0]);
    }
}
