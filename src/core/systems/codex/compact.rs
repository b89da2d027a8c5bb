//! The summary request, and the history afterwards.

use super::estimate::{cut, tokens};
use crate::chat::{ChatMessage, Content, PendingRequest, Replies, SummaryReply, SummaryRequest};
use std::sync::Arc;

/// `SUMMARIZATION_PROMPT`.
const PROMPT: &str = include_str!("prompts/compact.txt");
/// `SUMMARY_PREFIX`.
const PREFIX: &str = include_str!("prompts/prefix.txt");
/// Code of the provider's error for a request that is too long.
const OVERFLOW: &str = "context_length_exceeded";

/// `run_compact_task_inner`: requests a summary of a history behind its instructions. Returns the error of a request
/// that failed.
pub(super) fn summary(
    system: &[ChatMessage],
    history: &[ChatMessage],
    replies: &mut Replies<'_>,
) -> Result<Result<ChatMessage, String>, PendingRequest> {
    let mut requested = history.to_vec();
    loop {
        let prompt = ChatMessage::new("user", PROMPT);
        let request = SummaryRequest::new([system, &requested, &[prompt]].concat());
        let text = match replies.reply_to(request)? {
            SummaryReply::Text(text) if !text.is_empty() => text,
            SummaryReply::Text(_) | SummaryReply::ToolCall => last_answer(history),
            SummaryReply::Failed(why) if why.contains(OVERFLOW) && !requested.is_empty() => {
                remove_oldest(&mut requested);
                continue;
            }
            SummaryReply::Failed(why) => return Ok(Err(why)),
        };
        return Ok(Ok(ChatMessage::summary("user", format!("{PREFIX}\n{text}"))));
    }
}

/// `get_last_assistant_message_from_turn`: returns the text of the newest answer with one, which takes the place of an
/// empty summary.
fn last_answer(history: &[ChatMessage]) -> Arc<str> {
    let answers = history.iter().rev().filter(|m| m.is("assistant"));
    let mut texts = answers.map(|m| m.joined_text("\n"));
    let text = texts.find(|text| !text.is_empty());
    text.unwrap_or_default().into()
}

/// `remove_first_item`: removes the oldest item of a history, and the counterpart of a call or result. Texts and calls
/// are items of their own.
fn remove_oldest(history: &mut Vec<ChatMessage>) {
    let oldest = &mut history[0];
    let mut calls = oldest.calls().to_vec();
    if calls.is_empty() {
        history.remove(0);
        return;
    }
    if !oldest.joined_text("").is_empty() {
        oldest.content = Content::Null;
        return;
    }
    let id = calls.remove(0).id;
    if calls.is_empty() {
        history.remove(0);
    } else {
        *oldest = oldest.clone().with_calls(calls);
    }
    history.retain(|m| !m.is("tool") || m.call_id != id);
}

/// Beginnings of the user messages that Codex adds anew after a compaction: environment and instructions of the project.
const RENEWED: [&str; 3] =
    ["<environment_context>", "# AGENTS.md instructions for ", "<user_instructions>"];
/// Beginnings of other user messages that the user did not write (`is_contextual_user_fragment`).
const CONTEXTUAL: [&str; 4] =
    ["<skill>", "<user_shell_command>", "<turn_aborted>", "<subagent_notification>"];

fn begins_with(message: &ChatMessage, beginnings: &[&str]) -> bool {
    let text = message.joined_text("\n");
    beginnings.iter().any(|beginning| text.trim_start().starts_with(beginning))
}

/// Returns the environment and instructions as they were added last, in their order.
pub(super) fn renewed(history: &[ChatMessage]) -> Vec<ChatMessage> {
    let newest = |beginning: &&str| {
        let is_it = |m: &ChatMessage| m.is("user") && begins_with(m, &[*beginning]);
        history.iter().rposition(is_it)
    };
    let mut found: Vec<usize> = RENEWED.iter().filter_map(newest).collect();
    found.sort_unstable();
    found.into_iter().map(|at| history[at].clone()).collect()
}

/// `build_compacted_history_with_limit`: returns the user's newest messages of up to `limit` tokens. The oldest of them
/// is cut in the middle.
pub(super) fn newest(history: &[ChatMessage], limit: usize) -> Vec<ChatMessage> {
    let is_summary = |m: &ChatMessage| {
        let text = m.joined_text("\n");
        text.strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with('\n'))
    };
    let is_added = |m: &ChatMessage| begins_with(m, &RENEWED) || begins_with(m, &CONTEXTUAL);
    let is_typed = |m: &&ChatMessage| m.is("user") && !is_summary(m) && !is_added(m);
    let by_user = history.iter().rev().filter(is_typed);
    let (mut left, mut kept) = (limit, Vec::new());
    for message in by_user {
        if left == 0 {
            break;
        }
        let text = message.joined_text("\n");
        let size = tokens(&text);
        kept.push(if size <= left { message.clone() } else { message.with_text(cut(&text, left)) });
        left = left.saturating_sub(size);
    }
    kept.reverse();
    kept
}
