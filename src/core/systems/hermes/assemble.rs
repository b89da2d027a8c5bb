//! The new history: a summary between head and tail.

use super::prune::without_images;
use super::summary_text::{BELOW, END, PREFIX, PRIOR, is_summary, text_of, without_prefix};
use crate::chat::{Block, BlockBody, Calls, ChatMessage, Content};
use crate::json::json;
use crate::languages::python::python_str;
use crate::languages::python::{first_chars, is_space, strip, strip_end};
use crate::session::WrittenKind;
use std::collections::HashSet;

const TASK: &str = "## Historical Task Snapshot";
// As in hermes-agent 0.19.0, `_ACTIVE_TASK_MAX_CHARS` (`agent/context_compressor.py`).
const TASK_CHARS: usize = 1400;
const SYNTHETIC: [&str; 5] = [
    "[System: Your previous response was truncated",
    "[System: The previous response was cut off",
    "[System: Your previous tool call",
    "[Your active task list was preserved across context compression]",
    "[IMPORTANT: Background process ",
];
const IMAGE: &str = "[Attached image — stripped after compression]";
const CONTINUE: &str = "Continue from the compressed conversation context above. This marker exists because no human user turn was available.";

/// Returns whether a message is by the user.
fn is_by_user(message: &ChatMessage) -> bool {
    let text = text_of(message);
    let text = strip(&text);
    let is_synthetic = SYNTHETIC.iter().any(|start| text.starts_with(start));
    message.is("user") && !text.is_empty() && !is_synthetic && !is_summary(message)
}

/// `_ground_historical_task_snapshot`: returns a summary that names the newest task of the summarized turns.
pub(super) fn grounded(summary: &str, turns: &[ChatMessage]) -> String {
    let Some(task) = turns.iter().rev().find(|m| is_by_user(m)) else {
        return summary.to_owned();
    };
    let text = text_of(task);
    let words = strip(&text).split(is_space).filter(|word| !word.is_empty());
    let mut text = words.collect::<Vec<_>>().join(" ");
    if text.chars().count() > TASK_CHARS {
        text = format!("{} ...[truncated]", strip_end(first_chars(&text, TASK_CHARS - 15)));
    }
    // `repr` of the text.
    let quoted = python_str(&json!([text]));
    let quoted = &quoted[1..quoted.len() - 1];
    let snapshot = format!(
        "{TASK}\nUser asked (deterministic, from compacted turns): {quoted}\nHistorical only; newer protected-tail messages \
         after this summary win.\n\n"
    );
    let body = without_prefix(summary);
    let (before, after) = section(body).unwrap_or((0, 0));
    let whole = format!("{}{snapshot}{}", &body[..before], &body[after..]);
    strip(&whole).to_owned()
}

/// Returns the section of the task: from its heading to the next one.
fn section(body: &str) -> Option<(usize, usize)> {
    let starts_line = |at: usize| at == 0 || body[..at].ends_with('\n');
    let mut headings = body.match_indices(TASK).map(|(at, _)| at).filter(|at| starts_line(*at));
    let start = headings.find(|at| {
        let rest = &body[at + TASK.len()..];
        let space = &rest[..rest.len() - rest.trim_start_matches(is_space).len()];
        space.contains('\n')
    })?;
    let from = start + TASK.len();
    let mut next = body[from..].match_indices("## ").map(|(at, _)| from + at);
    let end = next.find(|at| starts_line(*at)).unwrap_or(body.len());
    Some((start, end))
}

/// Returns the history with a summary in place of the messages from `start` to `end`.
pub(super) fn assembled(
    all: &[ChatMessage],
    start: usize,
    end: usize,
    summary: &str,
) -> Vec<ChatMessage> {
    let summary = match without_prefix(summary) {
        "" => PREFIX.to_owned(),
        body => format!("{PREFIX}\n{body}"),
    };
    let role = |at: usize| all.get(at).map_or("user", |m| &m.role);
    let last_head = start.checked_sub(1).map_or("user", role);
    let first_tail = role(end);
    let mut outside = all[..start].iter().chain(&all[end..]);
    let needs_user = !outside.any(|m| m.is("user"));
    let (mut own, other) = match last_head {
        "assistant" | "tool" => ("user", "assistant"),
        _ if needs_user => ("user", "assistant"),
        _ => ("assistant", "user"),
    };
    let mut is_merged = false;
    if own == first_tail {
        is_merged = other == last_head || needs_user;
        own = other;
    }
    let mut after = all[..start].to_vec();
    let mut rest = all[end..].to_vec();
    match rest.first_mut().filter(|_| is_merged) {
        Some(first) => *first = merged(first, &summary),
        None => after.push(ChatMessage::summary(own, format!("{summary}\n\n{END}"))),
    }
    after.append(&mut rest);
    without_old_images(with_user(all, without_orphans(after)))
}

/// Returns a message with a summary behind its own text.
fn merged(message: &ChatMessage, summary: &str) -> ChatMessage {
    let before = format!("{PRIOR}\n");
    let after = format!("\n\n{BELOW}\n\n{summary}\n\n{END}");
    let Content::Blocks(blocks) = &message.content else {
        let own = message.text().unwrap_or_default();
        let mut now = message.with_text(format!("{before}{own}{after}"));
        if message.content.first_part().is_none() {
            now.written = Some(WrittenKind::Summary);
        }
        return now;
    };
    let mut now = message.clone();
    let blocks = blocks.iter().cloned();
    let blocks = [Block::text(before)].into_iter().chain(blocks);
    now.content = Content::Blocks(blocks.chain([Block::text(after)]).collect());
    now
}

/// `_sanitize_tool_pairs`.
fn without_orphans(mut messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let ids = messages.iter().flat_map(ChatMessage::calls).filter_map(|call| call.id.clone());
    let called: HashSet<_> = ids.collect();
    let results = messages.iter().filter(|m| m.is("tool"));
    let answered: HashSet<_> = results.filter_map(|m| m.call_id.clone()).collect();
    messages.retain(|m| !m.is("tool") || m.call_id.as_ref().is_none_or(|id| called.contains(id)));
    for message in &mut messages {
        let is_answered = |id: &Option<_>| id.as_ref().is_none_or(|id| answered.contains(id));
        if message.calls().iter().all(|call| is_answered(&call.id)) {
            continue;
        }
        let kept = message.calls().iter().filter(|call| is_answered(&call.id));
        let kept: Vec<_> = kept.cloned().collect();
        let is_empty = kept.is_empty();
        message.calls = if is_empty { Calls::Missing } else { Calls::List(kept) };
        if is_empty && strip(&text_of(message)).is_empty() {
            *message = message.with_text("(tool call removed)");
        }
    }
    messages
}

/// `_strip_historical_media`: removes images before the newest message of the user with one.
fn without_old_images(mut messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let has_image =
        |m: &ChatMessage| m.blocks().iter().any(|b| matches!(b.body, BlockBody::Image(_)));
    let newest = messages.iter().rposition(|m| m.is("user") && has_image(m));
    for message in &mut messages[..newest.unwrap_or(0)] {
        if has_image(message) {
            message.content = Content::Blocks(without_images(message.blocks(), IMAGE));
        }
    }
    messages
}

/// `_ensure_compressed_has_user_turn`.
fn with_user(before: &[ChatMessage], mut messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    if messages.iter().any(is_by_user) {
        return messages;
    }
    let Some(user) = before.iter().rev().find(|m| is_by_user(m)) else {
        messages.push(ChatMessage::notice("user", CONTINUE));
        return messages;
    };
    let follows_other = |at: usize| at == 0 || !messages[at - 1].is("user");
    let mut answers = (0..messages.len()).filter(|at| messages[*at].is("assistant"));
    let at = answers.find(|at| follows_other(*at)).unwrap_or(messages.len());
    messages.insert(at, user.clone());
    messages
}
