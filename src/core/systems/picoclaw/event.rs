//! Events that PicoClaw sends to its listeners when it reduces a context.

use crate::json::{Value, json};

/// Reason for a forced compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The request would have been too large.
    ProactiveBudget,
    /// The provider rejected it.
    LlmRetry,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `agent.context.compress`.
    Compressed {
        /// The reason.
        reason: Reason,
        /// Number of removed messages.
        dropped: usize,
        /// Number of remaining messages.
        remaining: usize,
    },
    /// `agent.session.summarize`.
    Summarized {
        /// Number of summarized messages.
        messages: usize,
        /// Number of kept messages.
        kept: usize,
        /// Bytes of the summary.
        summary_len: usize,
        /// Whether messages were too large to be summarized.
        omitted: bool,
    },
}

impl Reason {
    /// Returns its name in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProactiveBudget => "proactive_budget",
            Self::LlmRetry => "llm_retry",
        }
    }
}

impl Event {
    /// Returns the event as listeners receive it.
    pub fn to_json(self) -> Value {
        match self {
            Self::Compressed { reason, dropped, remaining } => json!({
                "Kind": "agent.context.compress",
                "Payload": {
                    "Reason": reason.name(),
                    "DroppedMessages": dropped,
                    "RemainingMessages": remaining,
                },
            }),
            Self::Summarized { messages, kept, summary_len, omitted } => json!({
                "Kind": "agent.session.summarize",
                "Payload": {
                    "SummarizedMessages": messages,
                    "KeptMessages": kept,
                    "SummaryLen": summary_len,
                    "OmittedOversized": omitted,
                },
            }),
        }
    }
}
