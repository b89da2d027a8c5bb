//! `ChatSummary.summarize`: summarizes the older part of finished turns, again if the result is still too large.

use crate::chat::{ChatMessage, PendingRequest, Replies, Rule};
use crate::chat::{SummaryReply, SummaryRequest};
use crate::json::json;
use crate::languages::python::Layout;
use crate::languages::python::python_dumps;
use crate::systems::litellm::{PRIMING, TokenCounter};

const PROMPT: &str = include_str!("prompt.txt");
const PREFIX: &str = "I spoke to you previously about a number of things.\n";
/// Maximum number of messages that are not split.
// The numbers of this file are those of aider-chat 0.86.2, `ChatSummary` (`aider/history.py`); the limits of
// `max_tokens` are those of `aider/models.py`.
const MIN_SPLIT: usize = 4;
/// Number of models that are asked in turn: the weak one and the main one.
const N_MODELS: usize = 2;
/// Maximum depth at which a summary that is still too large is summarized again.
const MAX_DEPTH: usize = 3;
/// Limit of a model that is not known.
const DEFAULT_INPUT: u64 = 4096;
/// Tokens of the limit that a request for a summary leaves free.
const BUFFER: u64 = 512;

/// A summarizer.
pub(super) struct ChatSummary {
    counter: TokenCounter,
    /// Maximum tokens of finished turns.
    pub(super) max_tokens: f64,
    /// Maximum tokens of a request.
    max_input: u64,
}

/// The error if no model answers.
pub(super) struct AllFailed;

impl ChatSummary {
    /// Makes a summarizer. `max_tokens` is 0 for a sixteenth of the window within limits.
    pub(super) fn new(model: &str, window: u64, max_tokens: f64) -> Self {
        let by_window = (window as f64 / 16.0).clamp(1024.0, 8192.0);
        let max_input = if window == 0 { DEFAULT_INPUT } else { window };
        Self {
            counter: TokenCounter::of_model(model),
            max_tokens: if max_tokens > 0.0 { max_tokens } else { by_window },
            max_input: max_input.saturating_sub(BUFFER),
        }
    }

    /// Returns the tokens of a message as JSON.
    fn count(&self, message: &ChatMessage) -> u64 {
        let rule = Rule { name: "aider: tokens", by: self.counter.tokenizer.id() };
        message.weigh(rule, |message| {
            let stored = json!({"role": &*message.role, "content": message.joined_text("\n")});
            self.counter.tokenizer.count(&python_dumps(&stored, Layout::ASCII))
        })
    }

    /// Returns the tokens of messages.
    pub(super) fn total(&self, messages: &[ChatMessage]) -> u64 {
        messages.iter().map(|message| self.count(message)).sum()
    }

    /// Returns messages with a summary of the older ones, which ends with an answer.
    pub(super) fn summarize(
        &self,
        messages: &[ChatMessage],
        replies: &mut Replies<'_>,
        log: &mut Vec<String>,
    ) -> Result<Result<Vec<ChatMessage>, AllFailed>, PendingRequest> {
        let mut messages = messages.to_vec();
        for depth in 0.. {
            let split = self.split(&messages).filter(|_| depth <= MAX_DEPTH);
            let Some(split) = split else {
                let summary = summarize_all(&messages, replies, log)?;
                return Ok(summary.map(|summary| finished(vec![summary])));
            };
            let mut total = 0;
            let fits = |message: &&ChatMessage| {
                total += self.count(message);
                total <= self.max_input
            };
            // Messages that do not fit are neither kept nor summarized.
            let n_fitting = messages[..split].iter().take_while(fits).count();
            let Ok(summary) = summarize_all(&messages[..n_fitting], replies, log)? else {
                return Ok(Err(AllFailed));
            };
            let tokens = self.counter.message(&summary) + PRIMING + self.total(&messages[split..]);
            messages.splice(..split, [summary]);
            if (tokens as f64) < self.max_tokens {
                break;
            }
        }
        Ok(Ok(finished(messages)))
    }

    /// Returns the first message to keep: the newest within half of the limit, behind an answer. `None` if too few are
    /// left to split.
    fn split(&self, messages: &[ChatMessage]) -> Option<usize> {
        if messages.len() <= MIN_SPLIT {
            return None;
        }
        let half = (self.max_tokens / 2.0).floor();
        let (mut split, mut tail) = (messages.len(), 0);
        while split > 0 {
            let tokens = self.count(&messages[split - 1]);
            if (tail + tokens) as f64 >= half {
                break;
            }
            tail += tokens;
            split -= 1;
        }
        while split > 1 && !messages[split - 1].is("assistant") {
            split -= 1;
        }
        // Aider has no tools. Results of other agents follow their call into the summary.
        let results = messages[split..].iter().take_while(|m| m.is("tool"));
        (split > MIN_SPLIT).then_some(split + results.count())
    }
}

/// Returns a summary of messages by the first model that answers.
fn summarize_all(
    messages: &[ChatMessage],
    replies: &mut Replies<'_>,
    log: &mut Vec<String>,
) -> Result<Result<ChatMessage, AllFailed>, PendingRequest> {
    let mut content = String::new();
    for message in messages {
        if !message.is("user") && !message.is("assistant") {
            continue;
        }
        let role = message.role.to_uppercase();
        content.extend(["# ", &role, "\n", &message.joined_text("\n")]);
        if !content.ends_with('\n') {
            content.push('\n');
        }
    }
    let request = SummaryRequest::new(vec![
        ChatMessage::new("system", PROMPT),
        ChatMessage::new("user", content),
    ]);
    for _ in 0..N_MODELS {
        match replies.reply_to(request.clone())? {
            SummaryReply::Text(text) => {
                return Ok(Ok(ChatMessage::summary("user", format!("{PREFIX}{text}"))));
            }
            SummaryReply::ToolCall => {}
            SummaryReply::Failed(why) => log.push(format!("Summarization failed for model: {why}")),
        }
    }
    Ok(Err(AllFailed))
}

/// Adds an answer unless the last message is one.
fn finished(mut messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    if messages.last().is_some_and(|m| !m.is("assistant")) {
        messages.push(ChatMessage::notice("assistant", "Ok."));
    }
    messages
}
