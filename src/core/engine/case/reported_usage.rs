//! Usage that the user gives for the calls of a replay, in place of the calculated counts.

use crate::units::Tokens;

/// Usage that a provider reports for one call of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedUsage {
    /// The whole context of the call.
    pub input: Tokens,
    /// The answer.
    pub output: Tokens,
}
