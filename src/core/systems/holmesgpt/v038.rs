//! Compaction of release 0.38: one request without tools, whatever its size; the summary follows the last question as
//! an assistant message, with a system notice.

use super::compact::{Compaction, image_tokens, last_question, without_instructions};
use super::flatten::strip_images;
use super::limiter::{Limited, Threshold, Version, limit};
use super::summarizer::Summarizer;
use crate::chat::{
    ChatMessage, Content, Fields, PendingRequest, Replies, SummaryReply, SummaryRequest,
};
use crate::json::{Map, Value, json};
use std::sync::Arc;

/// The notice after the summary, in this release and before.
pub(super) const NOTICE: &str = "The conversation history has been compacted to preserve available space in the context window. Continue.";

/// Compacts a conversation over the threshold, as this release does.
///
/// # Errors
/// [`PendingRequest`] if an answer is needed first.
pub fn compact_if_necessary_v038(
    summarizer: &Summarizer<'_>,
    threshold: Threshold,
    messages: Vec<ChatMessage>,
    replies: &mut Replies<'_>,
) -> Result<Limited, PendingRequest> {
    let version =
        Version { compact: &mut |messages| compact_once(summarizer, messages, replies), details };
    limit(summarizer, threshold, messages, version)
}

/// Returns the additional event details of this release.
fn details(compaction: &Compaction) -> Map<String, Value> {
    let usage = &compaction.usage;
    let cost = json!({
        "total_cost": usage.total_cost,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    });
    Map::from_iter([("compaction_cost".to_owned(), cost)])
}

/// Summarizes a conversation in one request; a model error ends the run.
///
/// # Errors
/// [`PendingRequest`] if an answer is needed first.
pub fn compact_once(
    summarizer: &Summarizer<'_>,
    original: &mut [ChatMessage],
    replies: &mut Replies<'_>,
) -> Result<Compaction, PendingRequest> {
    let mut done = Compaction::default();
    let mut messages = without_instructions(original).to_vec();
    let llm = summarizer.llm;
    let instruction = llm.count_message(&mut summarizer.instruction_message());
    let total = llm.count(&mut messages, &[]).total;
    let images = image_tokens(llm, &messages);
    if images > 0 {
        let needed = total + instruction + llm.limits.max_output;
        let fits = needed <= llm.limits.window;
        let verb = if fits { "keeping" } else { "stripping" };
        done.log.push(format!("Compaction: {verb} {images} image tokens"));
        if !fits {
            messages = strip_images(&messages);
        }
    }
    let Some(summary) = request_once(summarizer, messages, &mut done, replies)? else {
        done.messages = original.to_vec();
        return Ok(done);
    };
    let system = original.first().filter(|m| m.is("system")).cloned();
    let question = last_question(original).cloned();
    let notice = ChatMessage::notice("system", NOTICE);
    done.messages = system.into_iter().chain(question).chain([summary, notice]).collect();
    Ok(done)
}

/// Returns the model's answer as a message; `None` if it failed, with the reason in `done`.
pub(super) fn request_once(
    summarizer: &Summarizer<'_>,
    mut messages: Vec<ChatMessage>,
    done: &mut Compaction,
    replies: &mut Replies<'_>,
) -> Result<Option<ChatMessage>, PendingRequest> {
    messages.push(summarizer.instruction_message());
    let request = SummaryRequest { messages, with_tools: false, max_tokens: summarizer.max_tokens };
    let reply = summarizer.reply_to(request, &mut done.usage, replies)?;
    done.n_requests = 1;
    Ok(match reply {
        SummaryReply::Text(text) => {
            done.summary = Some(Arc::clone(&text));
            Some(ChatMessage::summary("assistant", text))
        }
        SummaryReply::ToolCall => Some(ChatMessage::from(Fields {
            content: Content::Missing,
            ..ChatMessage::summary("assistant", "").into_fields()
        })),
        SummaryReply::Failed(why) => {
            done.raised = Some(why);
            None
        }
    })
}
