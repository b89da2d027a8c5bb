//! Replaces tool results that a later identical result repeats by pointers to it.

use std::sync::Arc;

/// Settings of the action `dedupe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dedupe {
    /// Text in the place of a repeated result. Placeholders: `{call}`, the id of the call whose result is the newest copy,
    /// and `{tool}`.
    pub pointer: Arc<str>,
}

impl Dedupe {
    /// Returns the pointer to the result of a call.
    pub(crate) fn pointer_to(&self, call: &str, tool: &str) -> String {
        // The id is inserted last: it is untrusted input, and may contain a placeholder.
        self.pointer.replace("{tool}", tool).replace("{call}", call)
    }
}
