//! What the prompt of a call shares with the prompt of the call before: as much as a provider's cache can serve.
//!
//! Mostly that is all of the last prompt, and a context knows from which entry on it was changed since. Only where a
//! call sees another context than the one before did (a view, or what is kept behind one) are the two compared.

use super::context::{Entry, EntryBody};
use super::working::Working;
use crate::units::Tokens;

/// The prompt of the last call.
#[derive(Debug, Default)]
pub(super) struct Prefix<'a> {
    /// Its true tokens.
    tokens: Tokens,
    /// Its entries.
    n_entries: usize,
    /// Where it is.
    pub(super) last: Last<'a>,
}

/// What the prompt of a call has in common with the last one, from its beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common {
    /// True tokens.
    pub(super) tokens: Tokens,
    /// Entries.
    pub(super) n_entries: usize,
    /// The call sees the context that the last one saw, with what became of it since.
    pub(super) is_same_context: bool,
}

/// Where the prompt of the last call is, perhaps with more behind it.
#[derive(Debug, Default)]
pub(super) enum Last<'a> {
    /// In the context that stages see.
    #[default]
    Working,
    /// In what is kept while a call sees a view.
    Store,
    /// In the view that is kept from call to call.
    View,
    /// In a context that nobody else needs any more.
    Old(Box<Working<'a>>),
}

impl<'a> Prefix<'a> {
    /// What the prompt of this call has in common with the last one. From now on this call's is the last. `store` and
    /// `view` are what is kept beside it.
    #[inline]
    pub(super) fn advance(
        &mut self,
        working: &Working<'a>,
        (store, view): (Option<&Working<'a>>, Option<&Working<'a>>),
        tokens: Tokens,
    ) -> Common {
        let old = match &self.last {
            Last::Working => None,
            Last::Store => store,
            Last::View => view,
            Last::Old(old) => Some(&**old),
        };
        let n_same = match old {
            None => working.changed.first().min(self.n_entries),
            Some(old) => n_same(old.unchanged().iter().take(self.n_entries), working),
        };
        let unchanged = match old {
            None if n_same == self.n_entries => self.tokens,
            None => working.tokens_before(n_same),
            // What no entry holds stands first, as far as it is the same.
            Some(old) => {
                working.tokens_before(n_same) - (working.context.overhead - old.context.overhead)
            }
        };
        let is_same_context = old.is_none();
        self.last = Last::Working;
        self.tokens = tokens;
        self.n_entries = working.context.entries.len();
        Common {
            tokens: unchanged.min(tokens),
            n_entries: n_same,
            is_same_context,
        }
    }
}

fn n_same<'a>(before: impl Iterator<Item = &'a Entry>, working: &Working<'_>) -> usize {
    let both = before.zip(&working.context.entries);
    both.take_while(|(was, is)| is_same(was, is)).count()
}

/// A message of the session with the same weight as before is taken to be unchanged; of ours the text tells, but for
/// stand-ins, which all say the same.
fn is_same(was: &Entry, is: &Entry) -> bool {
    match (&was.body, &is.body) {
        (EntryBody::Written(written), EntryBody::Written(_)) => {
            was.id == is.id || is.says(&written.text)
        }
        (EntryBody::Original(_), EntryBody::Original(_))
        | (EntryBody::Edited(_), EntryBody::Edited(_)) => {
            was.id == is.id && was.tokens == is.tokens
        }
        _ => false,
    }
}
