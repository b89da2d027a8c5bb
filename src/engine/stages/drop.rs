//! Removes messages; a notice may say so in their place.

use super::{Replacement, fill};
use crate::session::Role;
use serde::Deserialize;

/// Settings of the action `drop`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drop {
    /// A message of the user in their place; `{messages}` and `{tokens}` are filled in. None: nothing stands there.
    pub notice: Option<String>,
}

impl Drop {
    /// The notice for messages that weigh so much.
    pub(in crate::engine) fn notice(&self, messages: usize, tokens: u64) -> Option<Replacement> {
        let text = fill(self.notice.as_deref()?, messages, tokens);
        Some(Replacement {
            role: Role::User,
            text,
        })
    }
}
