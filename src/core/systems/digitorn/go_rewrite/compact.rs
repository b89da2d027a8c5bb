//! The two strategies of the rewrite: a recap made without a model, and a summary.

use super::facts::{loses_a_fact, with_missing_facts};
use super::message_text;
use super::recap::{framed, reminder, unframed};
use super::split::{safe_split, safe_split_budget};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};

/// The result of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// The recap and the kept messages; all messages if none was dropped.
    pub messages: Vec<ChatMessage>,
    /// Number of the oldest messages that were dropped.
    pub dropped: usize,
    /// The recap in its frame; empty if no message was dropped.
    pub summary: String,
    /// The strategy finally used: `truncate` or `summarize`.
    pub strategy: &'static str,
}

/// Inputs of a summary request.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// Whether a model is available.
    pub has_model: bool,
    /// Its prompt.
    pub prompt: &'a str,
    /// Maximum number of tokens of its answer.
    pub max_tokens: u64,
    /// The previous summary, framed or not.
    pub prior: &'a str,
}

/// Replaces the oldest messages with a recap of facts known without a model.
pub fn truncate(messages: &[ChatMessage], keep_recent: i64, goal: &str) -> Compaction {
    truncated(messages, safe_split(messages, keep_recent), goal)
}

/// Like [`truncate`], with a token budget for the kept messages.
pub fn truncate_budget(
    messages: &[ChatMessage],
    keep_recent: i64,
    budget: i64,
    goal: &str,
) -> Compaction {
    let cut = safe_split_budget(messages, keep_recent, budget);
    truncated(messages, cut, goal)
}

fn truncated(messages: &[ChatMessage], cut: usize, goal: &str) -> Compaction {
    let (dropped, kept) = messages.split_at(cut.min(messages.len()));
    if dropped.is_empty() {
        return unchanged(messages, "truncate");
    }
    let recap = reminder(dropped, goal);
    Compaction {
        messages: behind(ChatMessage::notice("system", recap.as_str()), kept),
        dropped: dropped.len(),
        summary: recap,
        strategy: "truncate",
    }
}

/// Replaces the oldest messages with a summary, or with a recap if there is no model, the request fails or the answer
/// is empty. Keeps the previous summary if the new one is much shorter or loses a fact of it.
///
/// # Errors
/// [`PendingRequest`] if the summary is needed first.
pub fn summarize(
    messages: &[ChatMessage],
    keep_recent: i64,
    goal: &str,
    summary: Summary<'_>,
    replies: &mut Replies<'_>,
) -> Result<Compaction, PendingRequest> {
    let cut = safe_split(messages, keep_recent);
    let (old, kept) = messages.split_at(cut);
    if old.is_empty() {
        return Ok(unchanged(messages, "summarize"));
    }
    if !summary.has_model {
        return Ok(truncated(messages, cut, goal));
    }
    let prior = unframed(summary.prior);
    let head = (!prior.is_empty()).then(|| ChatMessage::new("system", prior));
    let dropped: Vec<ChatMessage> = head.into_iter().chain(old.iter().cloned()).collect();
    let answer = match replies.reply_to(request(&dropped, summary))? {
        SummaryReply::Text(text) if !text.trim().is_empty() => text,
        _ => return Ok(truncated(messages, cut, goal)),
    };
    let is_poorer = loses_a_fact(prior, &answer) || answer.trim().len() < prior.len() / 2;
    let best = if !prior.is_empty() && is_poorer { prior } else { &answer };
    let recap = framed(&with_missing_facts(best, &dropped));
    Ok(Compaction {
        messages: behind(ChatMessage::summary("system", recap.as_str()), kept),
        dropped: old.len(),
        summary: recap,
        strategy: "summarize",
    })
}

fn request(dropped: &[ChatMessage], summary: Summary<'_>) -> SummaryRequest {
    let line = |m: &ChatMessage| format!("{}: {}", m.role, message_text(m));
    let lines: Vec<String> = dropped.iter().map(line).collect();
    SummaryRequest {
        messages: vec![
            ChatMessage::new("system", summary.prompt),
            ChatMessage::new("user", lines.join("\n")),
        ],
        with_tools: false,
        max_tokens: Some(summary.max_tokens),
    }
}

fn unchanged(messages: &[ChatMessage], strategy: &'static str) -> Compaction {
    Compaction { messages: messages.to_vec(), dropped: 0, summary: String::new(), strategy }
}

fn behind(recap: ChatMessage, kept: &[ChatMessage]) -> Vec<ChatMessage> {
    std::iter::once(recap).chain(kept.iter().cloned()).collect()
}
