//! What a policy's run shows to be wrong with the policy: its bugs and limits where they bit, each with its step.
//!
//! A finding comes from what happened in this run, never from the system's name: any policy that does the same gets it.

mod deed;
mod estimate;
mod loss;
mod pressure;
mod setting;

use crate::engine::{Case, KnobValues, Outcome, Policy};

/// Something that a run shows.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// The system itself would have ended the run.
    GivesUp,
    /// The whole history is gone.
    Wiped,
    /// It is over its own limit and nothing is removed any more.
    NeverAgain,
    /// Nothing handles a rejected call.
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
}

/// A run with what it was a run of.
#[derive(Clone, Copy)]
struct Seen<'a> {
    case: &'a Case,
    policy: &'a Policy,
    knobs: &'a KnobValues,
    outcome: &'a Outcome,
}

/// What looks for one kind of finding.
type Detector = fn(&Seen<'_>) -> Option<Finding>;

const DETECTORS: &[Detector] = &[
    pressure::gives_up,
    deed::wiped,
    pressure::never_again,
    pressure::unhandled,
    loss::unrelated_error,
    loss::summary_forgotten,
    deed::orphans,
    deed::instruction_lost,
    deed::in_vain,
    loss::broken_json,
    deed::grew,
    deed::thrashing,
    deed::no_op,
    estimate::miscounts,
    setting::above_window,
    setting::wrong_window,
    setting::ignored,
];

/// Everything that a run shows, worst first.
pub fn findings(
    case: &Case,
    policy: &Policy,
    knobs: &KnobValues,
    outcome: &Outcome,
) -> Vec<Finding> {
    let seen = Seen {
        case,
        policy,
        knobs,
        outcome,
    };
    DETECTORS.iter().filter_map(|look| look(&seen)).collect()
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
