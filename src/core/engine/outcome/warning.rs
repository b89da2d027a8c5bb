//! Warnings about a run.

use std::fmt;

/// A warning about a run. Its display text is one sentence that names the call from 1: `call 4: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Index of the call that the warning concerns, if it concerns one.
    pub call: Option<usize>,
    /// The effect on a manual edit, if the warning concerns one.
    pub edit: Option<EditWarning>,
    /// The text without the call.
    pub text: String,
}

/// The effect of a run on a manual edit that was not applied as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EditWarning {
    /// The message had already been removed, so there was nothing to edit.
    AlreadyGone,
    /// The message was not dropped or cleared, or a system removed it although it was pinned.
    NotApplied,
}

impl From<&str> for Warning {
    fn from(text: &str) -> Self {
        Self { call: None, edit: None, text: text.to_owned() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(call) = self.call {
            write!(f, "call {}: ", call + 1)?;
        }
        f.write_str(&self.text)
    }
}
