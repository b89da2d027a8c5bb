//! Recorded changes of the context: compactions, and what else the program sent differently from one call to the next.

use super::{RecordedCompaction, Session};

/// A change of the context that is not a compaction: other instructions or tool definitions, or messages that the
/// program sent in another form than before.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextRevision {
    /// Position: the context after it consists of `kept` and the history from this message on.
    pub before_message: usize,
    /// Index of the first call after it.
    pub call: usize,
    /// Messages of the context directly after it.
    pub kept: Vec<usize>,
}

/// A recorded change of the context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContextChange<'a> {
    /// The program compacted the context.
    Compaction(&'a RecordedCompaction),
    /// The program sent the same context in another form.
    Revision(&'a ContextRevision),
}

impl<'a> ContextChange<'a> {
    /// Returns its position: the context after it consists of the kept messages and the history from this message on.
    pub fn before_message(self) -> usize {
        match self {
            Self::Compaction(compaction) => compaction.before_message,
            Self::Revision(revision) => revision.before_message,
        }
    }

    /// Returns the index of the first call after it.
    pub fn call(self) -> usize {
        match self {
            Self::Compaction(compaction) => compaction.call,
            Self::Revision(revision) => revision.call,
        }
    }

    /// Returns the messages of the context directly after it.
    pub fn kept(self) -> &'a [usize] {
        match self {
            Self::Compaction(compaction) => &compaction.kept,
            Self::Revision(revision) => &revision.kept,
        }
    }
}

impl Session {
    /// Returns the recorded changes of the context, in order.
    pub fn context_changes(&self) -> impl DoubleEndedIterator<Item = ContextChange<'_>> {
        let compactions = self.compactions.iter().map(ContextChange::Compaction);
        let revisions = self.revisions.iter().map(ContextChange::Revision);
        let mut changes: Vec<_> = compactions.chain(revisions).collect();
        // A revision follows a compaction at its position.
        changes.sort_by_key(|change| change.before_message());
        changes.into_iter()
    }
}
