//! Actions of presets.

use super::request::{REMOVED, summary_request};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, n_system, newest_request};
use crate::engine::{ActionKind, Hook, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::summarizing;
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT];

const COMPACT: NamedAction = NamedAction::new(
    "goose.compact",
    ActionKind::Summarize,
    "Summarizes everything, keeps the user's newest message, and says so in the model's name.",
    |settings| summarizing(settings, compact),
);

const COMPACTED: &str = "Your context was compacted. The previous message contains a summary of the conversation so far.\nDo not mention that you read a summary or that conversation summarization occurred.\n";
const CONTINUE: &str = "Just continue the conversation naturally based on the summarized context.";
const CONTINUE_TOOLS: &str = "Continue calling tools as necessary to complete the task.";

const OVERFLOW: &str = "context_length_exceeded";
const NO_RESULTS_LEFT: &str =
    "Failed to compact: context limit exceeded even after removing all tool responses";

/// `compact_messages`.
fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let (system, history) = all.split_at(n_system(all));
    let newest = newest_request(history);
    // Behind a rejected request, the messages before the turn are in the form in which they were sent.
    let n_joined = match input.at {
        Hook::OverflowError => newest.unwrap_or(history.len()),
        _ => 0,
    };
    let summary = match summary(history, n_joined, replies)? {
        Ok(summary) => summary,
        Err(why) => return Ok(Rewritten::default().stopped_by(why)),
    };
    let is_last = newest.is_some_and(|at| at + 1 == history.len());
    let next = if is_last { CONTINUE } else { CONTINUE_TOOLS };
    let mut messages = system.to_vec();
    messages.push(ChatMessage::summary("user", summary));
    messages.push(ChatMessage::notice("assistant", format!("{COMPACTED}{next}")));
    messages.extend(newest.map(|at| history[at].clone()));
    Ok(Rewritten { messages: Some(messages), fired: true, ..Rewritten::default() })
}

/// `do_compact`: returns the summary of a history, or the reason why it failed.
fn summary(
    history: &[ChatMessage],
    n_joined: usize,
    replies: &mut Replies<'_>,
) -> Result<Result<Arc<str>, String>, PendingRequest> {
    for removed in REMOVED {
        match replies.reply_to(summary_request(history, n_joined, removed))? {
            SummaryReply::Text(text) => return Ok(Ok(text)),
            SummaryReply::ToolCall => return Ok(Ok(Arc::default())),
            SummaryReply::Failed(why) if why.contains(OVERFLOW) => {}
            SummaryReply::Failed(why) => return Ok(Err(why)),
        }
    }
    Ok(Err(NO_RESULTS_LEFT.to_owned()))
}
