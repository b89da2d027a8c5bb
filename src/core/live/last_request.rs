//! The messages of the last request. The start of the next one is usually the same, and is not written again.

use super::LiveError;
use super::conversation::Conversation;
use super::step::Entry;
use crate::formats::live::parse_message;
use crate::session::{Managed, ManagedEntry, WrittenKind};
use std::sync::Arc;

/// The messages of the last request.
#[derive(Debug, Default)]
pub(super) struct LastRequest {
    managed: Vec<ManagedEntry>,
    /// These messages as they were written.
    entries: Vec<Entry>,
}

/// Lengths of a start that two requests share.
#[derive(Clone, Copy, Debug, Default)]
struct SharedStart {
    managed: usize,
    entries: usize,
}

impl LastRequest {
    /// Writes the messages of the next request, which becomes the last one.
    ///
    /// # Errors
    /// [`LiveError::Write`] if the notation cannot represent them. The last request is then still the one before.
    pub(super) fn replace(
        &mut self,
        conversation: &Conversation,
        mut managed: Managed,
    ) -> Result<Vec<Entry>, LiveError> {
        let start = self.shared_start(conversation, &managed.entries);
        managed.entries.drain(..start.managed);
        let mut rest = Vec::with_capacity(managed.entries.len());
        for message in conversation.write(&managed)? {
            let number = message.of.and_then(|of| conversation.number(of));
            let value = || parse_message(&message.text).map(Arc::new).map_err(LiveError::Write);
            rest.push(match number {
                Some(keep) if message.is_untouched => Entry::Keep { keep },
                Some(edit) => Entry::Edit { edit, message: value()? },
                None => Entry::Add { add: value()? },
            });
        }
        self.managed.truncate(start.managed);
        self.managed.append(&mut managed.entries);
        self.entries.truncate(start.entries);
        self.entries.append(&mut rest);
        Ok(self.entries.clone())
    }

    /// Returns the longest start that is written as before whatever follows it.
    ///
    /// It ends with an unchanged message of the program that is later in the conversation than all messages before it, and
    /// earlier than all messages after it in both requests. So no message has parts on both sides.
    fn shared_start(&self, conversation: &Conversation, new: &[ManagedEntry]) -> SharedStart {
        let number = |entry: &ManagedEntry| match entry {
            ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => {
                conversation.number(*message)
            }
            ManagedEntry::Written { .. } => None,
        };
        let n_same = self.managed.iter().zip(new).take_while(|(a, b)| a == b).count();
        let after = self.managed[n_same..].iter().chain(&new[n_same..]);
        let mut lowest = after.filter_map(number).min().unwrap_or(usize::MAX);
        for end in (1..=n_same).rev() {
            let Some(last) = number(&new[end - 1]) else {
                continue;
            };
            let is_between =
                || last < lowest && new[..end - 1].iter().filter_map(number).all(|n| n < last);
            if matches!(new[end - 1], ManagedEntry::Kept { .. })
                && is_between()
                && adds_nothing_to_last(conversation, &new[end..])
            {
                // It may have been joined with a text of the policy.
                let is_last = |entry: &Entry| *entry == Entry::Keep { keep: last };
                if let Some(at) = self.entries.iter().rposition(is_last) {
                    return SharedStart { managed: end, entries: at + 1 };
                }
            }
            lowest = lowest.min(last);
        }
        SharedStart::default()
    }
}

/// Returns whether the first of these entries cannot become a part of the message before them.
fn adds_nothing_to_last(conversation: &Conversation, rest: &[ManagedEntry]) -> bool {
    let is_addition = |entry: &ManagedEntry| {
        matches!(entry, ManagedEntry::Written { kind: WrittenKind::Addition, .. })
    };
    match rest.first() {
        Some(ManagedEntry::Kept { message })
            if conversation.number(*message).is_some() && conversation.has_content(*message) =>
        {
            true
        }
        _ => !rest.iter().any(is_addition),
    }
}
