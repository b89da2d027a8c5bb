//! Findings about a policy: bugs and limits that its run shows, each with its call.
//!
//! A finding comes from what happened in this run, never from the system's name: any policy that does the same gets it.

mod compaction;
mod estimate;
mod loss;
mod pressure;
mod setting;

pub use compaction::thrashing_calls;

use crate::engine::{Case, KnobValues, Outcome, Policy};
use serde::Serialize;

/// A finding of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Kind of the finding.
    pub kind: FindingKind,
    /// Index of the first call with it.
    pub call: usize,
    /// Number of occurrences.
    pub times: usize,
    /// One or two sentences with figures.
    pub text: String,
}

/// Kinds of findings, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The system itself would have ended the run.
    GivesUp,
    /// The whole history is gone.
    Wiped,
    /// The policy is over its own limit and removes nothing any more.
    NeverAgain,
    /// A rejected call has no handler.
    UnhandledOverflow,
    /// History was removed for an error unrelated to its length.
    UnrelatedError,
    /// An earlier summary was removed without being sent to the summarizer.
    SummaryForgotten,
    /// Calls and results lost their partner.
    OrphanedPairs,
    /// The user's first request was removed, or survives only in a summary.
    InstructionLost,
    /// A summary saved almost nothing.
    SummarySavedLittle,
    /// A shortened result is no longer valid JSON.
    BrokenJson,
    /// A compaction made the context larger.
    Grew,
    /// Summaries before several consecutive calls.
    Thrashing,
    /// A stage changed nothing, but its cooldown applies.
    NoOp,
    /// The policy's own count is far from the actual one.
    Miscounts,
    /// A fixed value is larger than the context window.
    AboveWindow,
    /// A changed setting that the shipped code ignores.
    Ignored,
}

impl FindingKind {
    /// Returns the name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::GivesUp => "gives_up",
            Self::Wiped => "wiped",
            Self::NeverAgain => "never_again",
            Self::UnhandledOverflow => "unhandled_overflow",
            Self::UnrelatedError => "unrelated_error",
            Self::SummaryForgotten => "summary_forgotten",
            Self::OrphanedPairs => "orphaned_pairs",
            Self::InstructionLost => "instruction_lost",
            Self::SummarySavedLittle => "summary_saved_little",
            Self::BrokenJson => "broken_json",
            Self::Grew => "grew",
            Self::Thrashing => "thrashing",
            Self::NoOp => "no_op",
            Self::Miscounts => "miscounts",
            Self::AboveWindow => "above_window",
            Self::Ignored => "ignored",
        }
    }

    /// Returns whether a run with it is ruled out: insights report it as bad, and its settings are never recommended.
    pub fn is_bad(self) -> bool {
        matches!(
            self,
            Self::GivesUp
                | Self::Wiped
                | Self::NeverAgain
                | Self::UnhandledOverflow
                | Self::UnrelatedError
                | Self::OrphanedPairs
        )
    }
}

/// A run and its inputs.
#[derive(Clone, Copy)]
struct PolicyRun<'a> {
    case: &'a Case,
    policy: &'a Policy,
    knobs: &'a KnobValues,
    outcome: &'a Outcome,
}

/// Detectors, one per kind of finding.
type Detector = (FindingKind, fn(&PolicyRun<'_>) -> Option<Finding>);

const DETECTORS: &[Detector] = &[
    (FindingKind::GivesUp, pressure::gives_up),
    (FindingKind::Wiped, compaction::wiped),
    (FindingKind::NeverAgain, pressure::never_again),
    (FindingKind::UnhandledOverflow, pressure::unhandled),
    (FindingKind::UnrelatedError, loss::unrelated_error),
    (FindingKind::SummaryForgotten, loss::summary_forgotten),
    (FindingKind::OrphanedPairs, compaction::orphans),
    (FindingKind::InstructionLost, compaction::instruction_lost),
    (FindingKind::SummarySavedLittle, compaction::summary_saved_little),
    (FindingKind::BrokenJson, loss::broken_json),
    (FindingKind::Grew, compaction::grew),
    (FindingKind::Thrashing, compaction::thrashing),
    (FindingKind::NoOp, compaction::no_op),
    (FindingKind::Miscounts, estimate::miscounts),
    (FindingKind::AboveWindow, setting::above_window),
    (FindingKind::AboveWindow, setting::wrong_window),
    (FindingKind::Ignored, setting::ignored),
];

/// Returns all findings of a run, worst first.
pub fn findings(
    case: &Case,
    policy: &Policy,
    knobs: &KnobValues,
    outcome: &Outcome,
) -> Vec<Finding> {
    found(case, policy, knobs, outcome, |_| true)
}

/// Returns only the findings that exclude a setting ([`FindingKind::is_bad`]). Faster than [`findings`].
pub fn flaws(case: &Case, policy: &Policy, knobs: &KnobValues, outcome: &Outcome) -> Vec<Finding> {
    found(case, policy, knobs, outcome, FindingKind::is_bad)
}

fn found(
    case: &Case,
    policy: &Policy,
    knobs: &KnobValues,
    outcome: &Outcome,
    is_asked: fn(FindingKind) -> bool,
) -> Vec<Finding> {
    let run = PolicyRun { case, policy, knobs, outcome };
    let asked = DETECTORS.iter().filter(|(kind, _)| is_asked(*kind));
    asked.filter_map(|(_, look)| look(&run)).collect()
}

/// Formats `once`, `3 times`.
pub(super) fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}
