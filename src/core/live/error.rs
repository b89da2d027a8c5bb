//! Errors of a live conversation, as sentences.

use crate::engine::PolicyError;
use crate::names::unknown;

/// The reason why a live conversation cannot continue as asked.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// No policy has this name.
    #[error("{}", unknown("no preset is named", .name, .presets))]
    UnknownPreset {
        /// The given name.
        name: String,
        /// Names of all presets.
        presets: Vec<&'static str>,
    },
    /// The policy is invalid, or a setting does not exist or is out of range.
    #[error("{policy}: {error}")]
    Policy {
        /// Name of the policy; `the policy` if it has none.
        policy: String,
        /// Problem.
        error: PolicyError,
    },
    /// An option is invalid.
    #[error("{0}")]
    Option(String),
    /// A message cannot be read.
    #[error("message {number}: {reason}")]
    Message {
        /// Its number, from 1.
        number: usize,
        /// Problem.
        reason: String,
    },
    /// The program called the methods in another order than the conversation needs.
    #[error("{0}")]
    Order(&'static str),
    /// An earlier call did not return because of a defect, and the decisions so far are lost.
    #[error(
        "an earlier call failed because of an error in plimsoll, please report it: restore the state, or start again"
    )]
    Failed,
    /// The context cannot be written in the notation of the messages.
    #[error("{0}")]
    Write(String),
    /// A saved state cannot be restored.
    #[error("this state cannot be restored: {0}")]
    State(String),
}
