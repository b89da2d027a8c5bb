//! Replies of a model to a prompt.

use crate::exec::model::{AskError, AskErrorKind};
use std::sync::Arc;

/// A reply of a model.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ModelReply {
    /// A text; may be empty.
    Text(Arc<str>),
    /// A tool call instead of a text.
    ToolCall,
}

/// The reason why a prompt or a summary request has no usable reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SummaryFailure {
    /// One line for the user, also matched by the rules of policies.
    pub(super) reason: String,
    /// The prompt is too long for the model.
    pub(super) is_too_long: bool,
    /// No further reply is possible, so that the run ends.
    pub(super) is_fatal: bool,
}

impl SummaryFailure {
    /// An unusable reply. The policy decides what follows.
    pub(super) fn unusable(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_too_long: false, is_fatal: false }
    }

    /// A failure that ends the run.
    pub(super) fn fatal(reason: impl Into<String>) -> Self {
        Self { is_fatal: true, ..Self::unusable(reason) }
    }

    /// A prompt that is too long for the model.
    pub(super) fn too_long(reason: impl Into<String>) -> Self {
        Self { is_too_long: true, ..Self::unusable(reason) }
    }
}

impl From<&AskError> for SummaryFailure {
    fn from(error: &AskError) -> Self {
        Self {
            reason: error.to_string(),
            is_too_long: error.kind == AskErrorKind::ContextTooLong,
            is_fatal: !matches!(error.kind, AskErrorKind::ContextTooLong | AskErrorKind::BadAnswer),
        }
    }
}
