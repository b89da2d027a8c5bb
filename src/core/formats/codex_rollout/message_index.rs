//! Matches the items of a new context with earlier messages, which Codex repeats in full.
//!
//! An index by the hash of an item finds the messages that may be equal, and their bytes decide. Each message is
//! matched once and, where possible, in ascending order, so that repeated texts ("continue") keep their places in the
//! conversation.

use super::record::Record;
use crate::session::Session;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Earlier messages by the text of their items.
#[derive(Debug, Default)]
pub(super) struct MessageIndex {
    /// Message indices by the hash of the item, ascending.
    by_item: HashMap<u64, Vec<usize>>,
    /// Items by message index.
    records: Vec<Option<Record>>,
}

impl MessageIndex {
    /// Adds the messages since the last update.
    pub(super) fn update(&mut self, session: &Session) {
        let bytes = session.source.bytes.whole();
        let messages = session.messages.iter().enumerate();
        for (idx, message) in messages.skip(self.records.len()) {
            let span = message.raw.first();
            let record = span.map(|span| Record::at(&bytes, span));
            if let Some(record) = &record {
                let hash = hash(&record.text(session));
                self.by_item.entry(hash).or_default().push(idx);
            }
            self.records.push(record);
        }
    }

    /// Returns for each item of a new context the message that it repeats, byte for byte. Of several equal messages,
    /// those at the same position in the previous `context` are preferred at the beginning. The following items are
    /// matched from the end, because compactions keep the latest messages.
    pub(super) fn repeated(
        &self,
        session: &Session,
        context: &[usize],
        items: &[&[u8]],
    ) -> Vec<Option<usize>> {
        let is = |message: usize, item: &[u8]| {
            let record = self.records.get(message).and_then(Option::as_ref);
            record.is_some_and(|record| *record.text(session) == *item)
        };
        let mut found: Vec<Option<usize>> = context
            .iter()
            .zip(items)
            .map_while(|(message, item)| is(*message, item).then_some(Some(*message)))
            .collect();
        let mut taken: HashSet<usize> = found.iter().copied().flatten().collect();
        let begun = found.len();
        found.resize(items.len(), None);
        let mut next = session.messages.len();
        for (found, item) in found.iter_mut().zip(items).skip(begun).rev() {
            let Some(same) = self.by_item.get(&hash(item)) else {
                continue;
            };
            let before = same.partition_point(|message| *message < next);
            let latest = same[..before].last().filter(|message| !taken.contains(message));
            let message = latest.or(same.last()).copied();
            *found = message.filter(|message| !taken.contains(message) && is(*message, item));
            taken.extend(*found);
            next = found.map_or(next, |message| next.min(message));
        }
        found
    }
}

fn hash(item: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    item.hash(&mut hasher);
    hasher.finish()
}
