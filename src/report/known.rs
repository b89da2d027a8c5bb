//! How well the counts are known and where the window comes from, in words.

use crate::engine::{Case, WindowSource};
use crate::figure::percent;
use crate::tokens::Basis;

/// How the counts are known, as a word.
pub fn basis(case: &Case) -> &'static str {
    match case.ledger.basis {
        Basis::Reported => "reported",
        Basis::Exact => "exact",
        Basis::Calibrated(_) => "calibrated",
        Basis::Estimated => "estimated",
    }
}

/// How the counts are known, for people.
pub fn basis_sentence(case: &Case) -> String {
    let counter = case.ledger.counter.name;
    match case.ledger.basis {
        Basis::Reported => "reported by the provider".to_owned(),
        Basis::Exact => format!("exact ({counter})"),
        Basis::Calibrated(error) => format!(
            "calibrated ±{} ({counter} fitted to recorded usage)",
            percent(error)
        ),
        Basis::Estimated if case.session.steps.iter().any(|s| s.usage.is_some()) => {
            format!("≈ estimated ({counter}; the recorded usage does not fit what the file holds)")
        }
        Basis::Estimated => format!("≈ estimated ({counter}, the file records no usage)"),
    }
}

/// Where the window comes from.
pub fn window_source(case: &Case) -> &'static str {
    match case.windows.source {
        WindowSource::ByHand => "by hand",
        WindowSource::Recorded => "recorded",
        WindowSource::ModelTable => "of the model",
        WindowSource::Assumed => "assumed",
    }
}
