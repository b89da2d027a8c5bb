//! Processors that the documentation shows. What they return replaces the history.

use super::history::{History, Start, orphans, state};
use crate::chat::{Call, ChatMessage, PendingRequest, Replies, SummaryRequest};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::json::json;
use crate::systems::stage_settings::{numbers_only, summarizing};
use std::sync::Arc;

pub(super) const KEEP: NamedAction = NamedAction::new(
    "pydantic_ai.keep_recent",
    ActionKind::Drop,
    "Removes all messages but the newest.",
    |settings| numbers_only(settings, keep),
)
.with_numbers(&["n"]);

pub(super) const SUMMARIZE: NamedAction = NamedAction::new(
    "pydantic_ai.summarize_old",
    ActionKind::Summarize,
    "Replaces all messages but the newest with a summary of the oldest.",
    |settings| summarizing(settings, summarize),
)
.with_numbers(&["n"]);

const INSTRUCTIONS: &str = include_str!("instructions.txt");
const RETURN_TEXT: &str = "<system>Please return text.</system>";
const NO_TEXT: &str = "Exceeded maximum output retries (1)";

fn keep(input: &RewriteInput<'_>) -> Rewritten {
    let history = History::new(input);
    let n_removed = history.len().saturating_sub(input.count("n"));
    if n_removed == 0 {
        return Rewritten::default();
    }
    let kept = history.messages[n_removed..].iter().copied().flatten();
    Rewritten {
        messages: Some(history.system.iter().chain(kept).cloned().collect()),
        fired: true,
        ..Rewritten::default()
    }
}

fn summarize(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let history = History::new(input);
    let n = input.count("n");
    let (newest, messages) = match history.messages.split_last() {
        Some(split) if history.len() > n => split,
        _ => return Ok(Rewritten::default()),
    };
    let oldest = &messages[..n - usize::from(history.starts_empty)];
    let last = oldest.last().and_then(|message| message.first());
    let start = match last.filter(|last| last.is("assistant")) {
        // The summarizer's agent continues from an answer: it runs its calls, or sends nothing more.
        Some(answer) => Start::Empty { is_repaired: !answer.calls().is_empty() },
        None => Start::Plain,
    };
    let summary = match summary(request(oldest), replies)? {
        Ok(summary) => summary,
        // The error ends the turn.
        Err(why) => return Ok(Rewritten::default().stopped_by(why)),
    };
    let mut after = history.system.to_vec();
    after.push(ChatMessage::summary("assistant", summary));
    after.extend_from_slice(newest);
    Ok(Rewritten {
        messages: Some(after),
        fired: true,
        memory: state(input, &start).into(),
        ..Rewritten::default()
    })
}

/// Returns the summary, or the error. The summarizer's agent asks once more for an empty one.
fn summary(
    request: SummaryRequest,
    replies: &mut Replies<'_>,
) -> Result<Result<Arc<str>, String>, PendingRequest> {
    let mut again = request.messages.clone();
    let first = replies.reply_to(request)?.into_text();
    if first.as_ref().is_ok_and(|text| text.is_empty()) {
        again.push(ChatMessage::new("assistant", ""));
        again.push(ChatMessage::new("user", RETURN_TEXT));
        let second = replies.reply_to(SummaryRequest::new(again))?.into_text();
        let is_empty = second.as_ref().is_ok_and(|text| text.is_empty());
        return Ok(second.and_then(
            |text| {
                if is_empty { Err(NO_TEXT.to_owned()) } else { Ok(text) }
            },
        ));
    }
    Ok(first)
}

/// Returns the request for a summary of messages. The summarizer has no tools: open calls are answered with an error.
fn request(oldest: &[&[ChatMessage]]) -> SummaryRequest {
    let oldest: Vec<ChatMessage> = oldest.concat();
    let removed = orphans(&oldest);
    let open = oldest.last().map_or(&[][..], |last| last.calls());
    let results: Vec<ChatMessage> = open.iter().map(unknown_tool).collect();
    let mut messages = vec![ChatMessage::new("system", INSTRUCTIONS)];
    let kept = oldest.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| removed.binary_search(at).is_err());
    messages.extend(kept.map(|(_, message)| message));
    messages.extend(results);
    SummaryRequest::new(messages)
}

fn unknown_tool(call: &Call) -> ChatMessage {
    let text = format!("Unknown tool name: '{}'. No tools available.", call.tool());
    ChatMessage::notice_result(call, json!({"error": text}).to_string())
}
