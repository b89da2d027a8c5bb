//! The intended content of an export, against which the written file is checked.

use crate::engine::{Case, KnobValues, Policy};
use crate::formats::Format;
use crate::session::{Managed, Session};
use crate::units::Tokens;

/// The intended content of an export.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Promise<'a> {
    /// The source.
    pub case: &'a Case,
    /// The managed conversation.
    pub managed: &'a Managed,
    /// Actual tokens of the executed context, including overhead.
    pub tokens: Tokens,
    /// Tokens of text that is not recorded.
    pub overhead: Tokens,
    /// Format of the file.
    pub format: &'static Format,
    /// The policy of the run.
    pub policy: &'a Policy,
    /// Settings of the policy.
    pub knobs: &'a KnobValues,
    /// Index of the last call.
    pub call: usize,
}

impl Promise<'_> {
    pub(super) fn is_same_format(&self) -> bool {
        self.format.name == self.case.session.source.format
    }
}

/// Returns the messages of the last recorded context: those since the last compaction, and its result.
pub(super) fn context_messages(session: &Session) -> Vec<usize> {
    session.real_context(session.messages.len())
}
