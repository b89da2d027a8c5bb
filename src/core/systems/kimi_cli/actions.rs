//! Actions of presets.

use super::count::{Count, estimated_tokens};
use super::request::{of_parts, summary_request};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, n_system};
use crate::engine::{ActionKind, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::{numbers_only, summarizing};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT, RESULT];

/// Acts from `ratio` of the window on, or if less than `reserved` tokens of it are left.
const COMPACT: NamedAction = NamedAction::new(
    "kimi_cli.compact",
    ActionKind::Summarize,
    "Replaces everything before the newest messages of user and model with a summary.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["reported", "ratio", "reserved", "keep"]);

const RESULT: NamedAction = NamedAction::new(
    "kimi_cli.result",
    ActionKind::Repair,
    "States that a tool result is empty.",
    |settings| numbers_only(settings, name_empty_results),
);

const PREFIX: &str =
    "<system>Previous context has been compacted. Here is the compaction output:</system>";
const EMPTY_RESULT: &str = "<system>Tool output is empty.</system>";
const EMPTY_ANSWER: &str = "The API returned an empty response.";
/// Maximum number of requests for one summary.
// As in kimi-cli 1.52.0, `max_retries_per_step` (`kimi_cli/config.py`), which `soul/kimisoul.py` applies to compactions
// too.
const MAX_TRIES: usize = 3;

/// `SimpleCompaction.compact`.
fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let n_system = n_system(all);
    let count = Count::now(input, n_system);
    let total = count.total() as f64;
    let window = input.window as f64;
    let mut done = Rewritten {
        memory: count.to_memory(all.len()).into(),
        ..Rewritten::counted(count.total())
    };
    if total < window * input.number("ratio") && total + input.number("reserved") < window {
        return Ok(done);
    }
    let history = &all[n_system..];
    let Some(first_kept) = first_kept(history, input.count("keep")) else {
        // The program clears the list that it is about to keep.
        let left = all[..n_system].to_vec();
        return Ok(Rewritten {
            fired: true,
            memory: counted(0, left.len()).into(),
            messages: Some(left),
            ..done
        });
    };
    let (old, kept) = history.split_at(first_kept);
    if old.is_empty() {
        // The history is stored again, and its count is estimated.
        done.memory = counted(estimated_tokens(kept), all.len()).into();
        return Ok(done);
    }
    let text = match summary(old, replies)? {
        Ok(text) => text,
        // The error ends the turn.
        Err(why) => return Ok(done.stopped_by(why)),
    };
    let size = text.as_ref().map_or(0, |text| text.chars().count() as u64);
    let parts: Vec<Arc<str>> = [PREFIX.into()].into_iter().chain(text).collect();
    let mut messages = all[..n_system].to_vec();
    messages.push(of_parts(ChatMessage::summary("user", ""), parts));
    messages.extend_from_slice(kept);
    Ok(Rewritten {
        fired: true,
        memory: counted(size / 4 + estimated_tokens(kept), messages.len()).into(),
        messages: Some(messages),
        ..done
    })
}

/// Returns the memory of an estimate.
fn counted(reported: u64, n_messages: usize) -> crate::json::Value {
    let count = Count { reported, pending: 0 };
    count.to_memory(n_messages)
}

/// Returns the first of the newest `keep` messages of user and model; none if there are fewer.
fn first_kept(history: &[ChatMessage], keep: usize) -> Option<usize> {
    let is_counted = |at: &usize| history[*at].is("user") || history[*at].is("assistant");
    let mut newest = (0..history.len()).rev().filter(is_counted);
    newest.nth(keep.checked_sub(1)?)
}

/// Requests a summary. It has no text if the model called a tool. An error is returned as text.
fn summary(
    old: &[ChatMessage],
    replies: &mut Replies<'_>,
) -> Result<Result<Option<Arc<str>>, String>, PendingRequest> {
    let ask = summary_request(old);
    for _ in 0..MAX_TRIES {
        match replies.reply_to(ask.clone())? {
            SummaryReply::Text(text) if text.is_empty() => {}
            SummaryReply::Text(text) => return Ok(Ok(Some(text))),
            SummaryReply::ToolCall => return Ok(Ok(None)),
            SummaryReply::Failed(why) => return Ok(Err(why)),
        }
    }
    Ok(Err(EMPTY_ANSWER.to_owned()))
}

fn name_empty_results(input: &RewriteInput<'_>) -> Rewritten {
    let all = input.messages.iter().enumerate();
    let is_empty =
        |m: &ChatMessage| m.is("tool") && m.blocks().is_empty() && m.joined_text("").is_empty();
    let empty = all.filter(|(_, message)| is_empty(message));
    let edits =
        empty.map(|(at, message)| MessageEdit { at, now: Some(message.with_text(EMPTY_RESULT)) });
    Rewritten { edits: edits.collect(), ..Rewritten::default() }
}
