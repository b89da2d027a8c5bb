//! Summarizes a conversation in as many requests as necessary (`_summarize_in_chunks`).
//!
//! Each request contains the summary so far and as many of the next messages as fit. After a rejection as too long, a
//! request is retried with half the budget, which then applies to all later ones.

use super::count::Llm;
use super::split::split_message;
use super::stats::RequestStats;
use super::summarizer::{NO_MESSAGE, Summarizer, summary_message};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};
use crate::languages::python::strip;
use std::sync::Arc;

/// Maximum number of tries of one request.
// As in holmesgpt 0.45.0, `_MAX_SUMMARIZATION_ATTEMPTS` (`core/truncation/compaction.py`).
const MAX_ATTEMPTS: usize = 3;

/// Result of the requests.
pub(super) enum Chunked {
    /// A summary, and the number of answered requests.
    Summary(Arc<str>, u64),
    /// No summary, and the reason.
    Failed(String),
}

/// The state between requests.
#[derive(Clone)]
struct Progress {
    parts: Arc<[ChatMessage]>,
    weights: Arc<[i64]>,
    next: usize,
    budget: i64,
    summary: Arc<str>,
    /// Answered requests.
    n_requests: u64,
    /// Attempts of the next request that were rejected as too long.
    n_rejected: usize,
    usage: RequestStats,
}

/// Summarizes messages within a budget. Adds the cost to `usage`, whether or not it succeeds.
///
/// Tiny windows need hundreds of requests: the parts and the progress are saved, so that each is counted once.
pub(super) fn summarize_in_chunks(
    summarizer: &Summarizer<'_>,
    messages: impl FnOnce() -> Vec<ChatMessage>,
    budget: i64,
    usage: &mut RequestStats,
    replies: &mut Replies<'_>,
) -> Result<Chunked, PendingRequest> {
    let mut progress = replies.restore().unwrap_or_else(|| {
        let progress = Progress::new(summarizer.llm, messages(), budget, usage);
        replies.save(progress.clone());
        progress
    });
    let mut chunked = None;
    while chunked.is_none() && progress.next < progress.parts.len() {
        chunked = progress.request(summarizer, replies)?;
        replies.save(progress.clone());
    }
    usage.clone_from(&progress.usage);
    Ok(chunked.unwrap_or(Chunked::Summary(progress.summary, progress.n_requests)))
}

impl Progress {
    fn new(llm: &Llm, mut messages: Vec<ChatMessage>, budget: i64, usage: &RequestStats) -> Self {
        // A quarter, to leave space for the summary before them.
        let mut parts: Vec<ChatMessage> = messages
            .iter_mut()
            .flat_map(|message| split_message(llm, message, budget / 4))
            .collect();
        let weights = parts.iter_mut().map(|part| llm.count_message(part)).collect();
        Self {
            parts: parts.into(),
            weights,
            next: 0,
            budget,
            summary: "".into(),
            n_requests: 0,
            n_rejected: 0,
            usage: usage.clone(),
        }
    }

    /// Makes one attempt of a request. Returns the reason if it failed. If it was rejected as too long and contains more
    /// than one part, the next attempt contains less.
    fn request(
        &mut self,
        summarizer: &Summarizer<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Option<Chunked>, PendingRequest> {
        let mut messages = Vec::new();
        if !self.summary.is_empty() {
            messages.push(summary_message(&self.summary, false));
        }
        let prefix_weight: i64 = messages.iter_mut().map(|m| summarizer.llm.count_message(m)).sum();
        let n_sent = self.fitting(prefix_weight);
        messages.extend_from_slice(&self.parts[self.next..self.next + n_sent]);
        messages.push(summarizer.instruction_message());
        let request =
            SummaryRequest { messages, with_tools: false, max_tokens: summarizer.max_tokens };
        let text = match summarizer.reply_to(request, &mut self.usage, replies)? {
            SummaryReply::Text(text) => text,
            SummaryReply::ToolCall => "".into(),
            SummaryReply::Failed(why) if why == NO_MESSAGE => "".into(),
            SummaryReply::Failed(why) => {
                let is_last = self.n_rejected + 1 == MAX_ATTEMPTS || n_sent == 1;
                if is_last || !is_context_length_error(&why) {
                    return Ok(Some(Chunked::Failed(why)));
                }
                self.n_rejected += 1;
                self.budget = self.budget.div_euclid(2);
                return Ok(None);
            }
        };
        self.next += n_sent;
        self.n_rejected = 0;
        self.n_requests += 1;
        self.summary = strip(&text).into();
        let why = || format!("summarization request {} returned no text", self.n_requests);
        Ok(self.summary.is_empty().then(|| Chunked::Failed(why())))
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
        || ["prompt ", "input ", "request "].iter().any(|start| follows(start, false, too_long))
        || follows("too many ", false, &["tokens", "input tokens"])
        || error.contains("maximum context")
        || ["exceed the ", "exceeds the "]
            .iter()
            .any(|start| follows(start, false, &["model", "context", "maximum"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::run_with_replies;
    use std::cell::Cell;

    #[test]
    fn every_message_and_every_answer_is_counted_once() {
        let llm = Llm::with_chars_4("gpt-4o");
        let (n_prepared, n_priced) = (Cell::new(0), Cell::new(0));
        let price = |_: &SummaryRequest, _: &SummaryReply| {
            n_priced.set(n_priced.get() + 1);
            RequestStats::of_request(100, 10)
        };
        let summarizer = Summarizer {
            llm: &llm,
            tools: &[],
            instruction: "Summarize.",
            max_tokens: None,
            price: &price,
        };
        let messages = || {
            n_prepared.set(n_prepared.get() + 1);
            vec![ChatMessage::new("user", "word ".repeat(2_000))]
        };
        let mut n_asked = 0;
        let (chunked, usage) = run_with_replies(
            |replies| {
                let mut usage = RequestStats::default();
                let chunked = summarize_in_chunks(&summarizer, messages, 160, &mut usage, replies)?;
                Ok((chunked, usage))
            },
            |_| {
                n_asked += 1;
                match n_asked {
                    2 => SummaryReply::Failed("prompt is too long".into()),
                    _ => SummaryReply::Text("so far".into()),
                }
            },
        );
        let Chunked::Summary(summary, n_requests) = chunked else { panic!("failed") };
        assert_eq!((&*summary, n_requests), ("so far", n_asked - 1));
        assert!(n_requests > 50, "{n_requests}");
        assert_eq!((n_prepared.get(), n_priced.get()), (1, n_requests));
        assert_eq!(usage.total_tokens, 110 * n_requests);
    }

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
        for error in
            ["rate limit", "the contextual window", "promptly too long", "too many requests"]
        {
            assert!(!is_context_length_error(error), "{error}");
        }
    }
}
