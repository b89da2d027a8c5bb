//! The reason why a rule stopped.

use crate::chat::PendingRequest;
use crate::languages::python::PythonError;

/// Reason why a rule stopped: it needs a summary first, or it raised.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// A summary is needed first.
    Pending(PendingRequest),
    /// An exception was raised.
    Raised(PythonError),
}

impl From<PythonError> for Stop {
    fn from(error: PythonError) -> Self {
        Self::Raised(error)
    }
}

impl From<PendingRequest> for Stop {
    fn from(pending: PendingRequest) -> Self {
        Self::Pending(pending)
    }
}
