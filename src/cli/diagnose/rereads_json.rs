//! Removals of files' content, in the JSON of `plimsoll diagnose`.

use crate::analysis::rereads::{FileReads, RemovedFile};
use crate::units::{Share, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// The content of a file that left the context.
#[derive(Serialize, JsonSchema)]
pub(super) struct RemovedFileEntry<'a> {
    /// Path of the file, as a call gives it.
    file: &'a str,
    /// First call without the content.
    call: usize,
    /// Message with the last read.
    message: usize,
    /// Share of the last read that left the context at this call, 0 to 1.
    removed_share: Share,
    /// Tokens of that share.
    tokens: Tokens,
    /// Number of calls since the one that touched the file last; 0 for the call before.
    age_calls: u32,
    /// Number of calls that touched it since the last recorded compaction or the beginning.
    uses: u32,
    /// Whether one of these calls edited it.
    edited: bool,
    /// Probability that the agent reads it again within the next 20 calls.
    probability: f64,
    /// Re-reads that the removal adds to those that happen anyway.
    added_rereads: f64,
}

impl<'a> RemovedFileEntry<'a> {
    pub(super) fn new(removed: &RemovedFile, files: &'a FileReads) -> Self {
        Self {
            file: files.name(removed.file),
            call: removed.call + 1,
            message: removed.message + 1,
            removed_share: Share(removed.share),
            tokens: removed.tokens,
            age_calls: removed.known.age,
            uses: removed.known.uses,
            edited: removed.known.is_edited,
            probability: removed.probability,
            added_rereads: removed.extra,
        }
    }
}
