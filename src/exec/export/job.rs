//! An export to run.

use crate::engine::{Case, KnobValues, Policy, Schedule};
use crate::exec::summary::{RequestRecord, Summarizer};
use crate::formats::Format;
use std::path::PathBuf;

/// An export to run.
#[derive(Clone, Debug)]
pub struct ExportJob {
    /// The session.
    pub case: Case,
    /// The policy that manages it.
    pub policy: Policy,
    /// Settings of the policy.
    pub knobs: KnobValues,
    /// Replay (as the lane shows) or now (compact once).
    pub schedule: Schedule,
    /// Index of the last call of the run; `None` for all.
    pub until: Option<usize>,
    /// Source of summaries.
    pub summarizer: Summarizer,
    /// Format of the managed file.
    pub format: &'static Format,
    /// Path of the managed file. Neither the source nor an existing file is overwritten.
    pub output: PathBuf,
    /// Answers from [`preview`](super::preview()), possibly edited by the user. The first requests use them.
    pub given: Vec<RequestRecord>,
    /// Folder of the files that the policy writes; `<output>.files` if `None`.
    pub files: Option<PathBuf>,
}
