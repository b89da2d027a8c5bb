//! The check before each model call: compacts if the window is nearly full, gives up if it still overflows
//! (`compact_if_necessary`).

use super::compact::{Compaction, compact_conversation_history};
use super::count::{Llm, Usage};
use super::event::{Event, RunError};
use super::stats::RequestStats;
use super::summarizer::Summarizer;
use crate::chat::{ChatMessage, PendingRequest, Replies};
use crate::json::{Map, Value, json};
use std::sync::Arc;

/// The threshold of compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// `ENABLE_CONVERSATION_HISTORY_COMPACTION`.
    pub is_enabled: bool,
    /// `CONTEXT_WINDOW_COMPACTION_THRESHOLD_PCT`.
    pub pct: i64,
}

impl Threshold {
    /// Returns whether a total is over it.
    pub fn is_over(self, llm: &Llm, total: i64) -> bool {
        let needed = total + llm.limits.max_output;
        self.is_enabled && needed as f64 > llm.limits.threshold(self.pct)
    }
}

/// Result of the check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limited {
    /// The conversation to send.
    pub messages: Vec<ChatMessage>,
    /// Tokens before.
    pub initial: Usage,
    /// Tokens afterwards.
    pub tokens: Usage,
    /// Tokens of the compacted conversation, accepted or not.
    pub compacted: Option<i64>,
    /// Whether it was compacted.
    pub is_compacted: bool,
    /// Events sent to the client, in order.
    pub events: Vec<Event>,
    /// Cost of the compaction.
    pub usage: RequestStats,
    /// The summary, if one was accepted.
    pub summary: Option<Arc<str>>,
    /// Number of requests for an accepted summary.
    pub n_requests: u64,
    /// Calls whose results would fill the window again.
    pub overflowing_call_ids: Vec<Arc<str>>,
    /// The error that ends the run.
    pub error: Option<RunError>,
    /// Log lines.
    pub log: Vec<String>,
}

/// Returns the event before a compaction, if one will be tried (`check_compaction_needed`).
pub fn compaction_start_event(
    llm: &Llm,
    threshold: Threshold,
    messages: &mut [ChatMessage],
    tools: &[Value],
) -> Option<Event> {
    if !threshold.is_enabled {
        return None;
    }
    let total = llm.count(messages, tools).total;
    threshold.is_over(llm, total).then(|| Event {
        name: "conversation_history_compaction_start",
        content: Some(format!(
            "Compacting conversation history ({total} tokens, {} messages)...",
            messages.len()
        )),
        metadata: Some(json!({
            "initial_tokens": total,
            "num_messages": messages.len(),
            "max_context_size": llm.limits.window,
            "threshold_pct": threshold.pct,
        })),
    })
}

/// Compaction of a version, and its additional event details.
pub(super) struct Version<'v> {
    /// Makes the summary.
    pub(super) compact: &'v mut CompactFn<'v>,
    /// Returns additional details of its event.
    pub(super) details: fn(&Compaction) -> Map<String, Value>,
}

/// Compaction function of a version.
pub(super) type CompactFn<'v> =
    dyn FnMut(&mut [ChatMessage]) -> Result<Compaction, PendingRequest> + 'v;

/// Compacts a conversation over the threshold; accepts the result only if it has fewer tokens.
///
/// # Errors
/// [`PendingRequest`] if an answer is needed first.
pub fn compact_if_necessary(
    summarizer: &Summarizer<'_>,
    threshold: Threshold,
    messages: Vec<ChatMessage>,
    replies: &mut Replies<'_>,
) -> Result<Limited, PendingRequest> {
    let version = Version {
        compact: &mut |messages| compact_conversation_history(summarizer, messages, replies),
        details,
    };
    limit(summarizer, threshold, messages, version)
}

/// Runs the check, identical in all versions since 0.24.
pub(super) fn limit(
    summarizer: &Summarizer<'_>,
    threshold: Threshold,
    mut messages: Vec<ChatMessage>,
    version: Version<'_>,
) -> Result<Limited, PendingRequest> {
    let (llm, tools) = (summarizer.llm, summarizer.tools);
    let Version { compact, details } = version;
    let mut limited = Limited::default();
    if let Some(text) = llm.refusal(&messages) {
        limited.error = Some(RunError::of_value(text));
        limited.messages = messages;
        return Ok(limited);
    }
    let initial = llm.count(&mut messages, tools);
    (limited.messages, limited.initial) = (messages, initial);
    if threshold.is_over(llm, initial.total) {
        let mut compaction = compact(&mut limited.messages)?;
        let tokens = llm.count(&mut compaction.messages, tools).total;
        limited.usage = compaction.usage.clone();
        limited.compacted = Some(tokens);
        limited.log.append(&mut compaction.log);
        if let Some(raised) = compaction.raised {
            limited.error = Some(RunError::plain(raised));
            return Ok(limited);
        }
        if tokens < initial.total {
            let details = details(&compaction);
            limited.accept(compaction, tokens, llm, threshold, details);
        } else {
            limited.log.push(format!(
                "Failed to reduce token count when compacting conversation history. Original \
                 tokens:{}. Compacted tokens:{tokens}",
                initial.total
            ));
        }
    }
    limited.tokens = llm.count(&mut limited.messages, tools);
    if let Some(text) = insufficient(llm, threshold, limited.tokens.total) {
        limited.log.push(text.clone());
        limited.events.push(Event::message(text.clone()));
        limited.error = Some(RunError { kind: "CompactionInsufficientError", text });
    }
    Ok(limited)
}

impl Limited {
    fn accept(
        &mut self,
        compaction: Compaction,
        tokens: i64,
        llm: &Llm,
        threshold: Threshold,
        details: Map<String, Value>,
    ) {
        let initial = self.initial.total;
        let content = format!(
            "The conversation history has been compacted from {initial} to {tokens} tokens"
        );
        let mut metadata = Map::from_iter([
            ("initial_tokens".to_owned(), json!(initial)),
            ("compacted_tokens".to_owned(), json!(tokens)),
            ("compression_ratio_pct".to_owned(), json!(ratio_pct(initial, tokens))),
            ("num_messages_before".to_owned(), json!(self.messages.len())),
            ("num_messages_after".to_owned(), json!(compaction.messages.len())),
            ("max_context_size".to_owned(), json!(llm.limits.window)),
            ("threshold_pct".to_owned(), json!(threshold.pct)),
        ]);
        metadata.extend(details);
        self.log.push(content.clone());
        self.events.push(Event {
            name: "conversation_history_compacted",
            content: Some(content.clone()),
            metadata: Some(Value::Object(metadata)),
        });
        self.events.push(Event::message(content));
        self.is_compacted = true;
        self.messages = compaction.messages;
        self.summary = compaction.summary;
        self.n_requests = compaction.n_requests;
        self.overflowing_call_ids = compaction.overflowing_call_ids;
    }
}

/// Returns the saved share in percent with one decimal.
fn ratio_pct(initial: i64, tokens: i64) -> f64 {
    let ratio = (1.0 - tokens as f64 / initial as f64) * 100.0;
    format!("{ratio:.1}").parse().unwrap_or(ratio)
}

/// Returns the additional details of release 0.45.
fn details(compaction: &Compaction) -> Map<String, Value> {
    let reason = &compaction.fallback_reason;
    let mut details = Map::from_iter([
        ("fallback_used".to_owned(), json!(reason.is_some())),
        ("summarization_requests".to_owned(), json!(compaction.n_requests)),
    ]);
    if let Some(reason) = reason {
        details.insert("fallback_reason".to_owned(), json!(reason));
    }
    let usage = &compaction.usage;
    let cost = json!({
        "total_cost": usage.total_cost,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": usage.cached_tokens,
        "cache_creation_tokens": usage.cache_creation_tokens,
    });
    details.insert("compaction_cost".to_owned(), cost);
    details
}

/// Returns the error that ends a run whose conversation cannot be sent.
fn insufficient(llm: &Llm, threshold: Threshold, total: i64) -> Option<String> {
    let (window, reserve) = (llm.limits.window, llm.limits.max_output);
    let sum = total + reserve;
    let why = if threshold.is_enabled {
        "Conversation history compaction failed to reduce tokens sufficiently."
    } else {
        "Conversation history exceeds the context window and compaction is disabled."
    };
    (sum > window).then(|| {
        format!(
            "{why} Current: {total} tokens + {reserve} max output = {sum}, but context window is {window}. \
             Please start a new conversation."
        )
    })
}
