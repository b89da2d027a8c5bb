//! A provider error that the user placed at a call, to test how a policy responds to its text.

use std::sync::Arc;

/// An error in place of the answer to one call. The call is made once more afterwards; errors of one call follow each
/// other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    /// Index of the call.
    pub call: usize,
    /// Text as systems receive it: message, status and code in one line.
    pub text: Arc<str>,
}
