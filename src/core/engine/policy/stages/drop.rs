//! Removes messages; a notice may replace them.

use super::{Replacement, fill};
use crate::session::Role;
use serde::Deserialize;

/// Settings of the action `drop`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drop {
    /// A user message that replaces them, with the placeholders `{messages}` and `{tokens}`; none: no replacement.
    pub notice: Option<String>,
}

impl Drop {
    /// Returns the notice for messages of this total weight.
    pub(crate) fn notice(&self, messages: usize, tokens: u64) -> Option<Replacement> {
        let text = fill(self.notice.as_deref()?, messages, tokens);
        Some(Replacement { role: Role::User, text })
    }
}
