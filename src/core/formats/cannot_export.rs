//! The error of writers.

/// Reason why a conversation cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CannotExport {
    /// The reason, a sentence without a final period.
    pub reason: String,
}
