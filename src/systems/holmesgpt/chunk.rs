//! Summarizes a conversation in as many requests as necessary (`_summarize_in_chunks`).
//!
//! Each request contains the summary so far and as many of the next messages as fit. After a rejection as too long, a
//! request is retried with half the budget, which then applies to all later ones.

use super::compact::{NO_MESSAGE, Summarizer, summary_message};
use super::split::split_message;
use super::stats::RequestStats;
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};
use crate::systems::python::strip;
use std::sync::Arc;

/// Maximum number of tries of one request.
const MAX_ATTEMPTS: usize = 3;

/// Result of the requests.
pub(super) enum Chunked {
    /// A summary, and the number of answered requests.
    Summary(Arc<str>, u64),
    /// No summary, and the reason.
    Failed(String),
}

/// The state between requests.
struct Progress {
    parts: Vec<ChatMessage>,
    weights: Vec<i64>,
    next: usize,
    budget: i64,
    summary: Arc<str>,
}

/// Summarizes messages within a budget. Adds the cost to `usage`, whether or not it succeeds.
pub(super) fn summarize_in_chunks(
    summarizer: &Summarizer<'_>,
    messages: &mut [ChatMessage],
    budget: i64,
    usage: &mut RequestStats,
    replies: &mut Replies<'_>,
) -> Result<Chunked, PendingRequest> {
    let llm = summarizer.llm;
    // A quarter, to leave space for the summary before them.
    let mut parts: Vec<ChatMessage> = messages
        .iter_mut()
        .flat_map(|message| split_message(llm, message, budget / 4))
        .collect();
    let weights = parts
        .iter_mut()
        .map(|part| llm.count_message(part))
        .collect();
    let mut progress = Progress {
        parts,
        weights,
        next: 0,
        budget,
        summary: "".into(),
    };
    let mut n_requests = 0;
    while progress.next < progress.parts.len() {
        let text = match progress.request(summarizer, usage, replies)? {
            SummaryReply::Text(text) => text,
            SummaryReply::ToolCall => "".into(),
            SummaryReply::Failed(why) if why == NO_MESSAGE => "".into(),
            SummaryReply::Failed(why) => return Ok(Chunked::Failed(why)),
        };
        n_requests += 1;
        progress.summary = strip(&text).into();
        if progress.summary.is_empty() {
            let why = format!("summarization request {n_requests} returned no text");
            return Ok(Chunked::Failed(why));
        }
    }
    Ok(Chunked::Summary(progress.summary, n_requests))
}

impl Progress {
    /// Makes one request; retries it while it is rejected as too long and contains more than one part.
    fn request(
        &mut self,
        summarizer: &Summarizer<'_>,
        usage: &mut RequestStats,
        replies: &mut Replies<'_>,
    ) -> Result<SummaryReply, PendingRequest> {
        let mut prefix = Vec::new();
        if !self.summary.is_empty() {
            prefix.push(summary_message(&self.summary, false));
        }
        let prefix_weight: i64 = prefix
            .iter_mut()
            .map(|m| summarizer.llm.count_message(m))
            .sum();
        let mut attempt = 1;
        loop {
            let n_sent = self.fitting(prefix_weight);
            let mut messages = prefix.clone();
            messages.extend_from_slice(&self.parts[self.next..self.next + n_sent]);
            messages.push(summarizer.instruction_message());
            let request = SummaryRequest {
                messages,
                with_tools: false,
                max_tokens: summarizer.max_tokens,
            };
            let reply = summarizer.reply_to(request, usage, replies)?;
            let is_too_long =
                matches!(&reply, SummaryReply::Failed(why) if is_context_length_error(why));
            if is_too_long && attempt < MAX_ATTEMPTS && n_sent > 1 {
                attempt += 1;
                self.budget = self.budget.div_euclid(2);
                continue;
            }
            self.next += n_sent;
            return Ok(reply);
        }
    }

    /// Returns the number of next parts that fit: at least one, whatever its size.
    fn fitting(&self, prefix_weight: i64) -> usize {
        let mut used = prefix_weight + self.weights[self.next];
        let more = self.weights[self.next + 1..].iter().take_while(|weight| {
            used += **weight;
            used <= self.budget
        });
        1 + more.count()
    }
}

/// Returns whether a provider's error describes an overflow: gateways use many phrases.
pub(super) fn is_context_length_error(error: &str) -> bool {
    let error = error.to_lowercase();
    let follows = |start: &str, one_char: bool, ends: &[&str]| {
        error.match_indices(start).any(|(at, _)| {
            let rest = &error[at + start.len()..];
            let is_end = |rest: &str| ends.iter().any(|end| rest.starts_with(end));
            let mut chars = rest.chars();
            let skipped =
                one_char && chars.next().is_some_and(|c| c != '\n') && is_end(chars.as_str());
            is_end(rest) || skipped
        })
    };
    let too_long = &["too long", "is too long"];
    follows("context", true, &["window", "length", "limit"])
        || ["prompt ", "input ", "request "]
            .iter()
            .any(|start| follows(start, false, too_long))
        || follows("too many ", false, &["tokens", "input tokens"])
        || error.contains("maximum context")
        || ["exceed the ", "exceeds the "]
            .iter()
            .any(|start| follows(start, false, &["model", "context", "maximum"]))
}

#[cfg(test)]
mod tests {
    use super::is_context_length_error;

    #[test]
    fn providers_say_too_long_in_many_words() {
        for error in [
            "litellm.ContextWindowExceededError: x",
            "Prompt is too long: 250000 tokens",
            "input too long",
            "context_length_exceeded",
            "too many input tokens",
            "exceeds the model's limit",
            "maximum context reached",
        ] {
            assert!(is_context_length_error(error), "{error}");
        }
        for error in [
            "rate limit",
            "the contextual window",
            "promptly too long",
            "too many requests",
        ] {
            assert!(!is_context_length_error(error), "{error}");
        }
    }
}
