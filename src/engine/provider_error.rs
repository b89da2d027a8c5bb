//! An error of the provider that a person placed at a call: what a policy makes of its words can then be seen.

use std::sync::Arc;

/// The provider's answer to one call: an error in its place. The call is made once more afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    /// Index of the step.
    pub step: usize,
    /// What it says, as systems see it: message, status and code in one line.
    pub text: Arc<str>,
}
