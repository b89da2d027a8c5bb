//! The prefix that the prompt of a call shares with that of the call before: the maximum that a provider's cache can
//! read.
//!
//! Usually that is the whole last prompt, and a context records its first changed entry. The two prompts are compared
//! only if the call receives another context than the one before (a view, or the store behind one).

use super::Working;
use crate::engine::case::Case;
use crate::engine::context::prefix::n_same;
use crate::units::Tokens;

/// The prompt of the last call.
#[derive(Debug, Default)]
pub(crate) struct Prefix<'a> {
    /// Its true tokens.
    tokens: Tokens,
    /// Its entries.
    n_entries: usize,
    /// Location of the prompt.
    pub(crate) last: LastPrompt<'a>,
}

/// The common prefix of the prompt of a call and the last prompt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommonPrefix {
    /// True tokens.
    pub(crate) tokens: Tokens,
    /// Entries.
    pub(crate) n_entries: usize,
}

/// Location of the last call's prompt, possibly with more entries behind it.
#[derive(Debug, Default)]
pub(crate) enum LastPrompt<'a> {
    /// In the context that stages receive.
    #[default]
    Working,
    /// In the store while a call receives a view.
    Store,
    /// In the view that is kept between calls.
    View,
    /// In a context that is not used otherwise.
    Old(Box<Working<'a>>),
}

impl<'a> Prefix<'a> {
    /// Continues with another case ([`Working::moved_to`]).
    pub(crate) fn moved_to(self, case: &Case) -> Prefix<'_> {
        let last = match self.last {
            LastPrompt::Working => LastPrompt::Working,
            LastPrompt::Store => LastPrompt::Store,
            LastPrompt::View => LastPrompt::View,
            LastPrompt::Old(old) => LastPrompt::Old(Box::new(old.moved_to(case))),
        };
        Prefix { tokens: self.tokens, n_entries: self.n_entries, last }
    }

    /// Returns the prefix that the prompt of this call shares with the last one, and makes this call the last. `store`
    /// and `view` are the contexts kept besides the working one.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        working: &Working<'a>,
        (store, view): (Option<&Working<'a>>, Option<&Working<'a>>),
        tokens: Tokens,
    ) -> CommonPrefix {
        let old = match &self.last {
            LastPrompt::Working => None,
            LastPrompt::Store => store,
            LastPrompt::View => view,
            LastPrompt::Old(old) => Some(&**old),
        };
        let n_same = match old {
            None => working.first_changed.min(self.n_entries),
            Some(old) => {
                let before = old.unchanged().iter().take(self.n_entries);
                n_same(before, &working.context.entries)
            }
        };
        let unchanged = match old {
            None if n_same == self.n_entries => self.tokens,
            None => working.tokens_before(n_same),
            // The overhead comes first, as far as it is unchanged.
            Some(old) => {
                working.tokens_before(n_same) - (working.context.overhead - old.context.overhead)
            }
        };
        self.last = LastPrompt::Working;
        self.tokens = tokens;
        self.n_entries = working.context.entries.len();
        CommonPrefix { tokens: unchanged.min(tokens), n_entries: n_same }
    }
}
