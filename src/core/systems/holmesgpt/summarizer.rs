//! Summary requests and the message with the summary.

use super::count::{Llm, forget_counts};
use super::stats::RequestStats;
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};
use crate::json::Value;
use std::fmt;

const PREAMBLE: &str = "The conversation history was compacted to preserve available space in the context window. The summary below replaces the earlier portion of the conversation:";
const SUFFIX: &str = "Continue the conversation from where it left off, using the summary above as established context.";

/// The text of a failed answer if a provider returned no message.
pub const NO_MESSAGE: &str = "no message in summarization response";

/// Inputs of a summary.
#[derive(Clone, Copy)]
pub struct Summarizer<'a> {
    /// The model, which counts and summarizes.
    pub llm: &'a Llm,
    /// The agent's tool definitions; may be empty.
    pub tools: &'a [Value],
    /// The summary instruction.
    pub instruction: &'a str,
    /// The most tokens of a summary, if assumed: upstream allows as many as it reserves for the answer.
    pub max_tokens: Option<u64>,
    /// Returns the cost of a request and its answer.
    pub price: &'a dyn Fn(&SummaryRequest, &SummaryReply) -> RequestStats,
}

impl fmt::Debug for Summarizer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarizer").field("llm", self.llm).finish_non_exhaustive()
    }
}

impl Summarizer<'_> {
    /// Returns the message with the summary instruction.
    pub(super) fn instruction_message(&self) -> ChatMessage {
        ChatMessage::notice("user", self.instruction)
    }

    /// Makes the request, and adds the cost of the answer; a failed one costs nothing.
    pub(super) fn reply_to(
        &self,
        mut request: SummaryRequest,
        usage: &mut RequestStats,
        replies: &mut Replies<'_>,
    ) -> Result<SummaryReply, PendingRequest> {
        forget_counts(&mut request.messages);
        let reply = replies.reply_to(request.clone())?;
        if !matches!(&reply, SummaryReply::Failed(why) if why != NO_MESSAGE) {
            usage.add(&(self.price)(&request, &reply));
        }
        Ok(reply)
    }
}

/// Returns the user message with a summary.
pub(super) fn summary_message(summary: &str, is_final: bool) -> ChatMessage {
    let mut text = format!("{PREAMBLE}\n\n{summary}");
    if is_final {
        text = format!("{text}\n\n{SUFFIX}");
    }
    ChatMessage::summary("user", text)
}
