//! Compaction of release 0.45: the conversation becomes instructions, a summary, and the last question
//! (`compact_conversation_history`).
//!
//! Tries one request with tools first, if the conversation fits it. If it does not fit or returns no summary, flattens
//! tool messages to text and summarizes them in as many requests as necessary, without tools.

use super::chunk::{Chunked, is_context_length_error, summarize_in_chunks};
use super::count::Llm;
use super::flatten::{flatten_tool_messages, strip_images};
use super::image::is_image;
use super::stats::RequestStats;
use super::summarizer::{NO_MESSAGE, Summarizer, summary_message};
use crate::chat::{
    ChatMessage, Content, Fields, PendingRequest, Replies, SummaryReply, SummaryRequest,
};
use crate::languages::python::strip;
use std::sync::Arc;

/// Result of a compaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// The conversation afterwards; unchanged if no summary was made.
    pub messages: Vec<ChatMessage>,
    /// Its cost.
    pub usage: RequestStats,
    /// The summary.
    pub summary: Option<Arc<str>>,
    /// Reason why the first kind of request was skipped or returned no summary.
    pub fallback_reason: Option<String>,
    /// Number of requests for the summary.
    pub n_requests: u64,
    /// Calls whose results were so large that repeating them would fill the window again; only set if the conversation
    /// did not fit one request.
    pub overflowing_call_ids: Vec<Arc<str>>,
    /// A model error that older releases pass on: it ends the run.
    pub raised: Option<String>,
    /// Log lines.
    pub log: Vec<String>,
}

/// The sizes that decide the form of the summary request.
struct Sizes {
    total: i64,
    budget: i64,
    is_without_images: bool,
}

/// Summarizes a conversation.
///
/// # Errors
/// [`PendingRequest`] if an answer is needed first.
pub fn compact_conversation_history(
    summarizer: &Summarizer<'_>,
    original: &mut [ChatMessage],
    replies: &mut Replies<'_>,
) -> Result<Compaction, PendingRequest> {
    let mut done = Compaction::default();
    let (mut messages, sizes) = prepared(summarizer, original, &mut done.log);
    let mut overflowed = sizes.total > sizes.budget;
    let mut summary: Arc<str> = "".into();
    let mut reason = None;
    if overflowed {
        reason = Some(format!(
            "history ({} tokens) exceeds the {}-token budget of one request",
            sizes.total, sizes.budget
        ));
    } else {
        match primary(summarizer, &messages, &mut done.usage, replies)? {
            Primary::Summary(text) => (summary, done.n_requests) = (text, 1),
            Primary::Nothing(why) => reason = Some(why.to_owned()),
            Primary::Failed(why) => {
                overflowed = is_context_length_error(&why);
                reason = Some(format!("summarization request failed: {why}"));
            }
        }
    }
    if let Some(why) = &mut reason {
        done.log.push(format!("Compaction: {why}; summarizing as text, without tools"));
        if overflowed && !sizes.is_without_images {
            messages = strip_images(&messages);
        }
        let flat = || flatten_tool_messages(without_instructions(&messages));
        match summarize_in_chunks(summarizer, flat, sizes.budget, &mut done.usage, replies)? {
            Chunked::Summary(text, n_requests) => (summary, done.n_requests) = (text, n_requests),
            Chunked::Failed(error) => {
                why.push_str("; fallback summarization failed: ");
                why.push_str(&error);
            }
        }
    }
    done.fallback_reason = reason;
    if summary.is_empty() {
        done.log.push("Compaction made no summary; the history stays as it is".to_owned());
        done.messages = original.to_vec();
        return Ok(done);
    }
    if overflowed {
        done.overflowing_call_ids = large_call_ids(summarizer.llm, original);
    }
    done.messages = compacted(original, summary_message(&summary, true));
    done.summary = Some(summary);
    Ok(done)
}

/// Returns the messages to summarize, without images if they would overflow with them, and the sizes of the request.
fn prepared(
    summarizer: &Summarizer<'_>,
    original: &mut [ChatMessage],
    log: &mut Vec<String>,
) -> (Vec<ChatMessage>, Sizes) {
    let llm = summarizer.llm;
    let instruction = llm.count_message(&mut summarizer.instruction_message());
    let mut total = llm.count(original, summarizer.tools).total;
    let images = image_tokens(llm, original);
    let (window, reserve) = (llm.limits.window, llm.limits.max_output);
    let fits = total + instruction + reserve <= window;
    let is_without_images = images > 0 && !fits;
    let mut messages = original.to_vec();
    if images > 0 {
        let verb = if fits { "keeping" } else { "stripping" };
        let sign = if fits { "<=" } else { ">" };
        log.push(format!(
            "Compaction: {verb} {images} image tokens ({total} + {instruction} + {reserve} {sign} {window})"
        ));
    }
    if is_without_images {
        messages = strip_images(&messages);
        total = llm.count(&mut messages, summarizer.tools).total;
    }
    let sizes = Sizes { total, budget: (window - reserve - instruction).max(0), is_without_images };
    (messages, sizes)
}

/// Result of the first kind of request.
enum Primary {
    Summary(Arc<str>),
    Nothing(&'static str),
    Failed(String),
}

/// Requests a summary of the whole conversation with the tools, as the agent itself would send them.
fn primary(
    summarizer: &Summarizer<'_>,
    messages: &[ChatMessage],
    usage: &mut RequestStats,
    replies: &mut Replies<'_>,
) -> Result<Primary, PendingRequest> {
    let mut messages = messages.to_vec();
    messages.push(summarizer.instruction_message());
    let request = SummaryRequest {
        messages,
        with_tools: !summarizer.tools.is_empty(),
        max_tokens: summarizer.max_tokens,
    };
    Ok(match summarizer.reply_to(request, usage, replies)? {
        SummaryReply::Failed(why) if why == NO_MESSAGE => Primary::Nothing(NO_MESSAGE),
        SummaryReply::Failed(why) => Primary::Failed(why),
        SummaryReply::ToolCall => {
            Primary::Nothing("model responded with a tool call instead of a summary")
        }
        SummaryReply::Text(text) => match strip(&text) {
            "" => Primary::Nothing("summarization response contains no text"),
            text => Primary::Summary(text.into()),
        },
    })
}

/// Returns the tokens of images, counted per message.
pub(super) fn image_tokens(llm: &Llm, messages: &[ChatMessage]) -> i64 {
    let of = |message: &ChatMessage| {
        let images: Vec<_> = message.blocks().iter().filter(|b| is_image(b)).cloned().collect();
        if images.is_empty() {
            return 0;
        }
        llm.count_message(&mut ChatMessage::from(Fields {
            content: Content::Blocks(images),
            ..ChatMessage::new("user", "").into_fields()
        }))
    };
    messages.iter().map(of).sum()
}

/// Returns all messages after the leading instructions.
pub(super) fn without_instructions(messages: &[ChatMessage]) -> &[ChatMessage] {
    match messages.split_first() {
        Some((first, rest)) if first.is("system") => rest,
        _ => messages,
    }
}

/// Returns the leading instructions, if any; the summary; the last question, if any.
fn compacted(original: &[ChatMessage], summary: ChatMessage) -> Vec<ChatMessage> {
    let system = original.first().filter(|m| m.is("system")).cloned();
    let question = last_question(original).cloned();
    system.into_iter().chain([summary]).chain(question).collect()
}

/// Returns the last user message.
pub(super) fn last_question(messages: &[ChatMessage]) -> Option<&ChatMessage> {
    messages.iter().rev().find(|m| m.is("user"))
}

/// Returns the calls whose result has at least half the tokens of the cap.
fn large_call_ids(llm: &Llm, messages: &mut [ChatMessage]) -> Vec<Arc<str>> {
    let least = llm.limits.tool_cap.div_euclid(2);
    let large = messages.iter_mut().filter_map(|message| {
        let id = message.call_id.clone().filter(|id| message.is("tool") && !id.is_empty())?;
        (llm.count_message(message) >= least).then_some(id)
    });
    large.collect()
}
