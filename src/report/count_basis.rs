//! Texts about the accuracy of the counts and the source of the context window.

use crate::engine::{Case, WindowSource};
use crate::figure::percent;
use crate::tokens::Basis;

/// Returns the accuracy of the counts as a word.
pub fn basis(case: &Case) -> &'static str {
    match case.ledger.basis {
        Basis::Reported => "reported",
        Basis::Exact => "exact",
        Basis::Calibrated(_) => "calibrated",
        Basis::Estimated => "estimated",
    }
}

/// Returns the accuracy of the counts as text.
pub fn basis_sentence(case: &Case) -> String {
    let counter = case.ledger.counter.name;
    match case.ledger.basis {
        Basis::Reported => "reported by the provider".to_owned(),
        Basis::Exact => format!("exact ({counter})"),
        Basis::Calibrated(error) => format!(
            "calibrated ±{} ({counter} fitted to recorded usage)",
            percent(error)
        ),
        Basis::Estimated if case.session.calls.iter().any(|s| s.usage.is_some()) => {
            format!("≈ estimated ({counter}; the recorded usage does not fit what the file holds)")
        }
        Basis::Estimated => format!("≈ estimated ({counter}, the file records no usage)"),
    }
}

/// Returns the source of the context window as text.
pub fn window_source(case: &Case) -> &'static str {
    match case.windows.source {
        WindowSource::User => "given",
        WindowSource::Recorded => "recorded",
        WindowSource::ModelTable => "of the model",
        WindowSource::Assumed => "assumed",
    }
}
