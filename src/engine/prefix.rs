//! What the prompt of a call shares with the prompt of the call before: as much as a provider's cache can serve.
//!
//! Mostly all of it, which costs nothing to know. Only where something is about to change is the last prompt
//! remembered, entry by entry. A message of the session with the same weight as before is taken to be unchanged.

use super::context::{Context, Entry, EntryBody};
use crate::units::Tokens;
use std::sync::Arc;

/// The prompt of the last call.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    /// Its true tokens.
    tokens: Tokens,
    /// Its entries.
    n_entries: usize,
    /// The context may not begin with it any more: it is remembered.
    is_kept: bool,
    overhead: Tokens,
    /// Its entries in few bits, where it is remembered.
    keys: Vec<u64>,
    /// The texts of ours among them, in order.
    texts: Vec<Arc<str>>,
}

impl Prefix {
    /// The context, which begins with the last prompt, is about to change: remembers the prompt, once.
    pub(super) fn keep(&mut self, context: &Context) {
        if self.is_kept {
            return;
        }
        self.is_kept = true;
        self.overhead = context.overhead;
        let prompt = &context.entries[..self.n_entries.min(context.entries.len())];
        self.keys.clear();
        self.keys.extend(prompt.iter().map(key));
        self.texts.clear();
        self.texts.extend(prompt.iter().filter_map(Entry::text));
    }

    /// True tokens that the prompt of this call has in common with the last one, from its beginning. From now on
    /// this call's is the last.
    pub(super) fn advance(&mut self, context: &Context, tokens: Tokens) -> Tokens {
        let unchanged = if self.is_kept {
            self.common(context)
        } else {
            self.tokens
        };
        self.tokens = tokens;
        self.n_entries = context.entries.len();
        self.is_kept = false;
        unchanged.min(tokens)
    }

    fn common(&self, context: &Context) -> Tokens {
        let mut texts = self.texts.iter();
        let is_same = |(was, entry): &(&u64, &Entry)| {
            **was == key(entry)
                && match &entry.body {
                    // Keys were equal so far, so this is the text of the same place.
                    EntryBody::Written(written) => texts.next() == Some(&written.text),
                    _ => true,
                }
        };
        let same = self.keys.iter().zip(&context.entries).take_while(is_same);
        let entries: Tokens = same.map(|(_, entry)| Tokens::from(entry.tokens)).sum();
        // What the file does not hold stands first, as far as it is the same.
        self.overhead.min(context.overhead) + entries
    }
}

/// An entry by its id, whether it is edited, and what it weighs.
fn key(entry: &Entry) -> u64 {
    let is_edited = u64::from(matches!(entry.body, EntryBody::Edited(_)));
    (u64::from(entry.id) << 32) | (is_edited << 31) | u64::from(entry.tokens & 0x7fff_ffff)
}
