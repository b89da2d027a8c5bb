//! Texts about the accuracy of the counts and the source of the context window.

use crate::engine::{Case, WindowSource};
use crate::figure::{percent, tokens};
use crate::tokens::Accuracy;
use crate::units::Tokens;
use std::fmt;

impl Accuracy {
    /// Returns the accuracy as a word, as in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Exact => "exact",
            Self::Calibrated(_) => "calibrated",
            Self::Estimated => "estimated",
        }
    }

    /// Formats tokens, with `≈` before an estimate.
    pub(super) fn marked(self, count: Tokens) -> String {
        format!("{}{}", self.mark(), tokens(count))
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calibrated(error) => write!(f, "calibrated ±{}", percent(*error)),
            other => f.write_str(other.name()),
        }
    }
}

/// Returns the accuracy of a session's counts and their counter as text: `exact (o200k_base)`.
pub fn accuracy_sentence(case: &Case) -> String {
    let counter = case.ledger.counter.name;
    match case.ledger.accuracy {
        Accuracy::Reported => "reported by the provider".to_owned(),
        Accuracy::Exact => format!("exact ({counter})"),
        Accuracy::Calibrated(error) => {
            format!("calibrated ±{} ({counter} fitted to recorded usage)", percent(error))
        }
        Accuracy::Estimated if case.session.calls.iter().any(|s| s.usage.is_some()) => {
            format!("≈ estimated ({counter}; the recorded usage does not fit what the file holds)")
        }
        Accuracy::Estimated => format!("≈ estimated ({counter}, the file records no usage)"),
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
