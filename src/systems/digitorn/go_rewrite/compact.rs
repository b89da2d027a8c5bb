//! The two strategies of the rewrite: a recap made without a model, and a summary.

use super::facts::{loses_a_fact, with_missing_facts};
use super::message_text;
use super::recap::{framed, reminder, unframed};
use super::split::{safe_split, safe_split_budget};
use crate::chat::{Ask, ChatMessage, Dialogue, Heard, Wants};

/// What came of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// The recap and what is kept; all messages if nothing was dropped.
    pub messages: Vec<ChatMessage>,
    /// How many of the oldest messages were dropped.
    pub dropped: usize,
    /// The recap in its frame; empty if nothing was dropped.
    pub summary: String,
    /// The strategy that was used in the end: `truncate` or `summarize`.
    pub strategy: &'static str,
}

/// What a summary is asked for with.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// Whether there is a model to ask.
    pub has_model: bool,
    /// What it is told.
    pub prompt: &'a str,
    /// Most tokens of its answer.
    pub max_tokens: u64,
    /// The summary there was, framed or not.
    pub prior: &'a str,
}

/// Drops the oldest messages for a recap of what is known without a model.
pub fn truncate(messages: &[ChatMessage], keep_recent: i64, goal: &str) -> Compaction {
    truncated(messages, safe_split(messages, keep_recent), goal)
}

/// The same with a budget of tokens on what stays.
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

/// Drops the oldest messages for a summary; for a recap where there is no model, it fails or says nothing. A summary
/// that is much shorter than the one before, or loses a fact of it, gives way to that one.
///
/// # Errors
/// [`Wants`] if the summary is needed first.
pub fn summarize(
    messages: &[ChatMessage],
    keep_recent: i64,
    goal: &str,
    summary: Summary<'_>,
    dialogue: &mut Dialogue<'_>,
) -> Result<Compaction, Wants> {
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
    let said = match dialogue.ask(request(&dropped, summary))? {
        Heard::Text(text) if !text.trim().is_empty() => text,
        _ => return Ok(truncated(messages, cut, goal)),
    };
    let is_poorer = loses_a_fact(prior, &said) || said.trim().len() < prior.len() / 2;
    let best = if !prior.is_empty() && is_poorer {
        prior
    } else {
        &said
    };
    let recap = framed(&with_missing_facts(best, &dropped));
    Ok(Compaction {
        messages: behind(ChatMessage::summary("system", recap.as_str()), kept),
        dropped: old.len(),
        summary: recap,
        strategy: "summarize",
    })
}

fn request(dropped: &[ChatMessage], summary: Summary<'_>) -> Ask {
    let line = |m: &ChatMessage| format!("{}: {}", m.role, message_text(m));
    let lines: Vec<String> = dropped.iter().map(line).collect();
    Ask {
        messages: vec![
            ChatMessage::new("system", summary.prompt),
            ChatMessage::new("user", lines.join("\n")),
        ],
        with_tools: false,
        max_tokens: Some(summary.max_tokens),
    }
}

fn unchanged(messages: &[ChatMessage], strategy: &'static str) -> Compaction {
    Compaction {
        messages: messages.to_vec(),
        dropped: 0,
        summary: String::new(),
        strategy,
    }
}

fn behind(recap: ChatMessage, kept: &[ChatMessage]) -> Vec<ChatMessage> {
    std::iter::once(recap).chain(kept.iter().cloned()).collect()
}
