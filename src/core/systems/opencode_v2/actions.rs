//! Actions of presets.

use super::checkpoint::History;
use super::record::{tokens, units};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest, n_system};
use crate::engine::{ActionKind, Hook, NamedAction, RewriteInput, Rewritten};
use crate::languages::javascript::length;
use crate::systems::stage_settings::summarizing;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT];

/// Acts above the window without the answer or the buffer, whichever is larger.
const COMPACT: NamedAction = NamedAction::new(
    "opencode_v2.compact",
    ActionKind::Summarize,
    "Replaces the whole history with one message: a summary, and the newest messages as text.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["tools_tokens", "max_output", "buffer", "keep", "is_on"]);

/// Maximum answer to a summary request.
// As in opencode-ai 1.18.33, `SessionCompaction` of `packages/core`.
const MAX_ANSWER: u64 = 4_096;

fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let max_output = input.count("max_output") as u64;
    let reserve = max_output.max(input.count("buffer") as u64);
    let used = tokens(units(all) + 4 * input.count("tools_tokens"));
    let mut done = Rewritten::counted(used);
    let is_due = input.at == Hook::OverflowError
        || input.flag("is_on") && used > input.window.saturating_sub(reserve);
    if !is_due {
        return Ok(done);
    }
    let (system, history) = all.split_at(n_system(all));
    let Some(history) = History::of(history, input.count("keep") as u64) else {
        return Ok(done);
    };
    let question = history.question();
    let max_tokens = match max_output {
        0 => MAX_ANSWER,
        max_output => max_output.min(MAX_ANSWER),
    };
    if tokens(length(&question)) > input.window.saturating_sub(max_tokens) {
        return Ok(done);
    }
    done.fired = true;
    let request = SummaryRequest {
        messages: vec![ChatMessage::new("user", question)],
        with_tools: false,
        max_tokens: Some(max_tokens),
    };
    // Without a summary, the request is sent as it is.
    if let SummaryReply::Text(summary) = replies.reply_to(request)?
        && !summary.trim().is_empty()
    {
        let mut messages = system.to_vec();
        messages.push(history.checkpoint(&summary));
        done.messages = Some(messages);
    }
    Ok(done)
}
