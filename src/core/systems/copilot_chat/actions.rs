//! Actions of presets.

use super::count::count;
use super::request::{full, simple};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryRequest, n_system, newest_request};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::summarizing;
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[SUMMARIZE];

/// Acts above `limit` tokens.
const SUMMARIZE: NamedAction = NamedAction::new(
    "copilot_chat.summarize",
    ActionKind::Summarize,
    "Replaces everything before the newest round of calls, or the newest request, with a summary.",
    |settings| summarizing(settings, summarize),
)
.with_numbers(&["limit", "is_on"]);

/// Start of the message about the machine, the last of those that precede the history.
const ENVIRONMENT: &str = "<environment_info>";

fn summarize(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let total = count(&input.messages);
    let mut done = Rewritten::counted(total);
    if total as f64 <= input.number("limit") || !input.flag("is_on") {
        return Ok(done);
    }
    let all = &input.messages;
    let start = history_start(all);
    let Some(kept_from) = kept_from(input).filter(|at| *at > start) else {
        return Ok(done);
    };
    let (old, kept) = (&all[start..kept_from], &all[kept_from..]);
    done.fired = true;
    // A transcript contains the newest request even if it is kept.
    let newest = kept.first().filter(|message| message.is("user"));
    let known: Vec<ChatMessage> = old.iter().chain(newest).cloned().collect();
    let summary = match ask(full(old), &mut done, replies)? {
        None => ask(simple(&known), &mut done, replies)?,
        text => text,
    };
    let Some(summary) = summary.filter(|text| !text.is_empty()) else {
        return Ok(done);
    };
    let text = format!("<conversation-summary>\n{summary}\n</conversation-summary>\n");
    let mut messages = all[..start].to_vec();
    messages.push(ChatMessage::summary("user", text));
    messages.extend_from_slice(kept);
    Ok(Rewritten { messages: Some(messages), ..done })
}

/// Returns the index of the first message behind those of Copilot itself.
fn history_start(all: &[ChatMessage]) -> usize {
    let start = n_system(all);
    let mut own = all[start..].iter().take_while(|message| message.is("user"));
    let environment = own.position(|message| message.joined_text("").starts_with(ENVIRONMENT));
    environment.map_or(start, |at| start + at + 1)
}

/// Returns the index of the first message that is kept: the newest round if the turn has several, else the newest request.
/// `None` if the first turn has no earlier round.
fn kept_from(input: &RewriteInput<'_>) -> Option<usize> {
    match input.call_in_turn {
        0 | 1 if input.turn > 1 => newest_request(&input.messages),
        0 | 1 => None,
        _ => input.messages.iter().rposition(|m| m.is("assistant")),
    }
}

/// Returns the reply to a request; `None` if it failed, which is logged.
fn ask(
    request: SummaryRequest,
    done: &mut Rewritten,
    replies: &mut Replies<'_>,
) -> Result<Option<Arc<str>>, PendingRequest> {
    let text = replies.reply_to(request)?.into_text();
    Ok(text.map_err(|why| done.log.push(why)).ok())
}
