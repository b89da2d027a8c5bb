//! What to do about what a policy's run shows, and how bad that is.

use super::Level;
use crate::analysis::FindingKind;

/// How bad a finding is.
pub(super) fn level(kind: FindingKind) -> Level {
    match kind {
        bad if bad.is_bad() => Level::Bad,
        FindingKind::NoOp | FindingKind::Ignored => Level::Note,
        _ => Level::Warning,
    }
}

/// What to do about it.
pub(super) fn advice(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::GivesUp | FindingKind::UnhandledOverflow | FindingKind::NeverAgain => {
            "Lower the trigger, cut large results as they come in, or add a stage for rejected calls."
        }
        FindingKind::Wiped => "Summarize what is dropped, or keep more of the newest messages.",
        FindingKind::UnrelatedError => {
            "Match the provider's words for a prompt that is too long, not any error."
        }
        FindingKind::SummaryForgotten => "Give the summarizer the summary before.",
        FindingKind::OrphanedPairs => "Cut between pairs, or repair them afterwards.",
        FindingKind::InstructionLost => {
            "Keep the first request, or restate it after each compaction."
        }
        FindingKind::InVain | FindingKind::Thrashing => {
            "Keep fewer messages or tokens, raise the trigger, or rest longer between compactions."
        }
        FindingKind::BrokenJson => "Cut results at the end of an item, or spill them whole.",
        FindingKind::Grew => "Act only where what is put in is smaller than what it replaces.",
        FindingKind::NoOp => "Make the trigger depend on what can be removed.",
        FindingKind::Miscounts => {
            "Go by the provider's count, or set the trigger lower by as much."
        }
        FindingKind::AboveWindow => "Set it from the model's real window.",
        FindingKind::Ignored => "The setting has no effect in the shipped code.",
    }
}
