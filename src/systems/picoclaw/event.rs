//! What PicoClaw tells its listeners when it makes a context smaller.

use serde_json::{Value, json};

/// Why a history was compressed by force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The request would have been too large.
    ProactiveBudget,
    /// The provider refused it.
    LlmRetry,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `agent.context.compress`.
    Compressed {
        /// Why.
        reason: Reason,
        /// Messages that are gone.
        dropped: usize,
        /// Messages that are left.
        remaining: usize,
    },
    /// `agent.session.summarize`.
    Summarized {
        /// Messages that the summary was made of.
        messages: usize,
        /// Messages that stay.
        kept: usize,
        /// Bytes of the summary.
        summary_len: usize,
        /// Messages were too large to be summarized.
        omitted: bool,
    },
}

impl Reason {
    /// Its name in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProactiveBudget => "proactive_budget",
            Self::LlmRetry => "llm_retry",
        }
    }
}

impl Event {
    /// The event as listeners get it.
    pub fn to_json(self) -> Value {
        match self {
            Self::Compressed {
                reason,
                dropped,
                remaining,
            } => json!({
                "Kind": "agent.context.compress",
                "Payload": {
                    "Reason": reason.name(),
                    "DroppedMessages": dropped,
                    "RemainingMessages": remaining,
                },
            }),
            Self::Summarized {
                messages,
                kept,
                summary_len,
                omitted,
            } => json!({
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
