//! Severity of findings and advice for each.

use super::Level;
use crate::analysis::FindingKind;

/// Returns the severity of a finding.
pub(super) fn level(kind: FindingKind) -> Level {
    match kind {
        bad if bad.is_bad() => Level::Bad,
        FindingKind::NoOp | FindingKind::Ignored => Level::Note,
        _ => Level::Warning,
    }
}

/// Returns the advice for a finding.
pub(super) fn advice(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::GivesUp | FindingKind::UnhandledOverflow => {
            "Lower the trigger, cut large results as they come in, or add a stage for rejected calls."
        }
        FindingKind::NeverAgain => {
            "Keep fewer messages, or let a stage remove content of the current turn."
        }
        FindingKind::Wiped => "Summarize what is dropped, or keep more of the newest messages.",
        FindingKind::UnrelatedError => {
            "Match the provider's message for an overflow, not any error."
        }
        FindingKind::SummaryForgotten => "Send the previous summary to the summarizer.",
        FindingKind::OrphanedPairs => "Keep each call with its result, or repair pairs afterwards.",
        FindingKind::InstructionLost => {
            "Keep the first request, or restate it after each compaction."
        }
        FindingKind::SummarySavedLittle | FindingKind::Thrashing => {
            "Keep fewer messages or tokens, raise the trigger, or set a longer cooldown."
        }
        FindingKind::BrokenJson => "Cut JSON results between items, or write them to a file.",
        FindingKind::Grew => "Act only if the replacement is smaller than the removed content.",
        FindingKind::NoOp => "Make the trigger depend on the removable tokens.",
        FindingKind::Miscounts => {
            "Use the provider's count, or lower the trigger by the difference."
        }
        FindingKind::AboveWindow => "Set the limit to at most the model's context window.",
        FindingKind::Ignored => "The setting has no effect in the shipped code.",
    }
}
