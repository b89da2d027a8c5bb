//! The version of November 2025: rejects an oversized result, loses the last question in a compaction, and truncates
//! fairly if the conversation still overflows.

use super::compact::{Compaction, without_instructions};
use super::count::{Llm, Usage};
use super::event::{Event, RunError};
use super::fair_truncation::{Fair, truncate_fairly};
use super::limiter::Threshold;
use super::summarizer::Summarizer;
use super::tool_data::{Status, ToolData};
use super::tool_result::ToolResult;
use super::v038::{NOTICE, request_once};
use crate::chat::{ChatMessage, PendingRequest, Replies};
use crate::json::{Value, json};

/// Removes the data of a successful result over the cap (`prevent_overly_big_tool_response`). Returns whether it did.
pub fn refuse_oversized_result(llm: &Llm, result: &mut ToolResult) -> bool {
    if result.status != Status::Success {
        return false;
    }
    let tokens = llm.count_message(&mut result.to_legacy_message());
    let cap = llm.limits.tool_cap;
    if tokens <= cap {
        return false;
    }
    let smaller = (tokens - cap) as f64 / tokens as f64 * 100.0;
    result.status = Status::Error;
    result.data = ToolData::None;
    result.error = Some(format!(
        "The tool call result is too large to return: {tokens} tokens.\nThe maximum allowed tokens is {cap} which is \
         {smaller:.1}% smaller.\nInstructions for the LLM: try to repeat the query but proactively narrow down the \
         result so that the tool answer fits within the allowed number of tokens."
    ));
    true
}

/// Result of the check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LegacyLimited {
    /// The conversation to send.
    pub messages: Vec<ChatMessage>,
    /// Tokens before.
    pub initial: Usage,
    /// Tokens afterwards.
    pub tokens: Usage,
    /// The compaction's result with its tokens, accepted or not.
    pub compaction: Option<(i64, Compaction)>,
    /// Whether it was compacted.
    pub is_compacted: bool,
    /// The truncation, if necessary.
    pub fair: Option<Fair>,
    /// Events sent to the client, in order.
    pub events: Vec<Event>,
    /// The error that ends the run.
    pub error: Option<RunError>,
    /// Log lines.
    pub log: Vec<String>,
}

/// Runs the first half of `limit_input_context_window`, the check before each model call: compacts a conversation over
/// the threshold.
///
/// # Errors
/// [`PendingRequest`] if an answer is needed first.
pub fn compact_legacy(
    summarizer: &Summarizer<'_>,
    threshold: Threshold,
    mut messages: Vec<ChatMessage>,
    replies: &mut Replies<'_>,
) -> Result<LegacyLimited, PendingRequest> {
    let (llm, tools) = (summarizer.llm, summarizer.tools);
    let mut limited = LegacyLimited::default();
    if let Some(text) = llm.refusal(&messages) {
        limited.error = Some(RunError::of_value(text));
        limited.messages = messages;
        return Ok(limited);
    }
    limited.initial = llm.count(&mut messages, tools);
    limited.messages = messages;
    if threshold.is_over(llm, limited.initial.total) {
        let mut compaction = compact(summarizer, &limited.messages, replies)?;
        limited.error = compaction.raised.take().map(RunError::plain);
        let tokens = llm.count(&mut compaction.messages, tools).total;
        limited.accept(compaction, tokens);
    }
    limited.tokens = llm.count(&mut limited.messages, tools);
    Ok(limited)
}

/// Runs the second half of `limit_input_context_window`: truncates results if the conversation overflows. Returns the truncation, if any.
///
/// # Errors
/// [`RunError`] if the conversation overflows even without any result.
pub fn truncate_to_window(
    llm: &Llm,
    messages: &mut [ChatMessage],
    tools: &[Value],
) -> Result<Option<Fair>, RunError> {
    let total = llm.count(messages, tools).total;
    if total + llm.limits.max_output <= llm.limits.window {
        return Ok(None);
    }
    truncate_fairly(llm, messages).map(Some)
}

impl LegacyLimited {
    /// Accepts a compaction if it has fewer tokens.
    fn accept(&mut self, compaction: Compaction, tokens: i64) {
        let initial = self.initial.total;
        if tokens < initial {
            let content = format!(
                "The conversation history has been compacted from {initial} to {tokens} tokens"
            );
            self.events.push(Event {
                name: "conversation_history_compacted",
                content: Some(content.clone()),
                metadata: Some(json!({"initial_tokens": initial, "compacted_tokens": tokens})),
            });
            self.events.push(Event::message(content.clone()));
            self.log.push(content);
            self.messages.clone_from(&compaction.messages);
            self.is_compacted = true;
        } else {
            self.log.push(format!(
                "Failed to reduce token count when compacting conversation history. Original tokens:{initial}. \
                 Compacted tokens:{tokens}"
            ));
        }
        self.compaction = Some((tokens, compaction));
    }
}

/// Returns instructions, the summary as an assistant message, and a notice: the last question is lost.
fn compact(
    summarizer: &Summarizer<'_>,
    original: &[ChatMessage],
    replies: &mut Replies<'_>,
) -> Result<Compaction, PendingRequest> {
    let mut done = Compaction::default();
    let messages = without_instructions(original).to_vec();
    let Some(summary) = request_once(summarizer, messages, &mut done, replies)? else {
        done.messages = original.to_vec();
        return Ok(done);
    };
    let system = original.first().filter(|m| m.is("system")).cloned();
    let notice = ChatMessage::notice("system", NOTICE);
    done.messages = system.into_iter().chain([summary, notice]).collect();
    Ok(done)
}
