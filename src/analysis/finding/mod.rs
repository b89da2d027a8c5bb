//! Findings about a policy: bugs and limits that its run shows, each with its call.
//!
//! A finding comes from what happened in this run, never from the system's name: any policy that does the same gets it.

mod deed;
mod estimate;
mod loss;
mod pressure;
mod setting;

use crate::engine::{Case, KnobValues, Outcome, Policy};
use schemars::JsonSchema;
use serde::Serialize;

/// A finding of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub kind: FindingKind,
    /// Index of the step where it first showed.
    pub step: usize,
    /// How often it showed.
    pub times: usize,
    /// One or two sentences with figures.
    pub text: String,
}

/// Kinds of findings, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The system itself would have ended the run.
    GivesUp,
    /// The whole history is gone.
    Wiped,
    /// It is over its own limit and nothing is removed any more.
    NeverAgain,
    /// A rejected call has no handler.
    UnhandledOverflow,
    /// History went for an error that had nothing to do with its length.
    UnrelatedError,
    /// An earlier summary went without being shown to what wrote the new one.
    SummaryForgotten,
    /// Calls and results lost their partner.
    OrphanedPairs,
    /// The person's first request is gone, or survives only in a summary.
    InstructionLost,
    /// A summary was paid for and saved next to nothing.
    InVain,
    /// A shortened result is no valid JSON any more.
    BrokenJson,
    /// The context grew.
    Grew,
    /// It compacts before call after call.
    Thrashing,
    /// It ran, changed nothing, and rests all the same.
    NoOp,
    /// It counts much less, or more, than is sent.
    Miscounts,
    /// A fixed number is larger than the window.
    AboveWindow,
    /// A setting was changed that the shipped code ignores.
    Ignored,
}

impl FindingKind {
    /// The name used in JSON and on the command line.
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
            Self::InVain => "in_vain",
            Self::BrokenJson => "broken_json",
            Self::Grew => "grew",
            Self::Thrashing => "thrashing",
            Self::NoOp => "no_op",
            Self::Miscounts => "miscounts",
            Self::AboveWindow => "above_window",
            Self::Ignored => "ignored",
        }
    }

    /// Whether a run that shows it is out of the question: insights tell it as bad, and its settings are never recommended.
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

/// A run with what it was a run of.
#[derive(Clone, Copy)]
struct Seen<'a> {
    case: &'a Case,
    policy: &'a Policy,
    knobs: &'a KnobValues,
    outcome: &'a Outcome,
}

/// Detectors, one per kind of finding.
type Detector = (FindingKind, fn(&Seen<'_>) -> Option<Finding>);

const DETECTORS: &[Detector] = &[
    (FindingKind::GivesUp, pressure::gives_up),
    (FindingKind::Wiped, deed::wiped),
    (FindingKind::NeverAgain, pressure::never_again),
    (FindingKind::UnhandledOverflow, pressure::unhandled),
    (FindingKind::UnrelatedError, loss::unrelated_error),
    (FindingKind::SummaryForgotten, loss::summary_forgotten),
    (FindingKind::OrphanedPairs, deed::orphans),
    (FindingKind::InstructionLost, deed::instruction_lost),
    (FindingKind::InVain, deed::in_vain),
    (FindingKind::BrokenJson, loss::broken_json),
    (FindingKind::Grew, deed::grew),
    (FindingKind::Thrashing, deed::thrashing),
    (FindingKind::NoOp, deed::no_op),
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
    let seen = Seen {
        case,
        policy,
        knobs,
        outcome,
    };
    let asked = DETECTORS.iter().filter(|(kind, _)| is_asked(*kind));
    asked.filter_map(|(_, look)| look(&seen)).collect()
}

/// `once`, `3 times`.
fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}

/// Whole percent.
fn percent(share: f64) -> String {
    if share.is_finite() {
        format!("{:.0} %", share * 100.0)
    } else {
        "more than all".to_owned()
    }
}
