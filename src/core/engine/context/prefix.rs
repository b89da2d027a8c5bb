//! The entries at the beginning of a context that a later one repeats unchanged.

use super::{Context, Entry, EntryBody};
use crate::units::Tokens;

impl Context {
    /// Returns the number of entries at the beginning that a later context repeats unchanged, and their true tokens
    /// with the overhead that both have: the maximum that a provider's cache can read.
    pub fn common_prefix(&self, later: &Self) -> (usize, Tokens) {
        let n_same = n_same(self.entries.iter(), &later.entries);
        let entries = self.entries[..n_same].iter();
        let tokens: Tokens = entries.map(|entry| Tokens::from(entry.tokens)).sum();
        (n_same, self.overhead.min(later.overhead) + tokens)
    }
}

/// Returns the number of entries at the beginning that are unchanged.
pub(crate) fn n_same<'a>(before: impl Iterator<Item = &'a Entry>, now: &[Entry]) -> usize {
    let both = before.zip(now);
    both.take_while(|(was, is)| is_same(was, is)).count()
}

/// Returns whether an entry is unchanged. A message of the session with the same weight counts as unchanged. Written
/// messages are compared by text: two views may give one id to different texts. Stand-ins are all alike, so their ids
/// must be equal too.
pub(super) fn is_same(was: &Entry, is: &Entry) -> bool {
    match (&was.body, &is.body) {
        (EntryBody::Written(old), EntryBody::Written(new)) => {
            // Another summary is a change even if it has the same text: in a simulation its text is a stand-in.
            let is_new_summary = was.id != is.id && is.is_summary();
            is.says(&old.text) && !is_new_summary || was.id == is.id && old.text == new.text
        }
        (EntryBody::Original(_), EntryBody::Original(_))
        | (EntryBody::Edited(_), EntryBody::Edited(_)) => {
            was.id == is.id && was.tokens == is.tokens
        }
        _ => false,
    }
}
