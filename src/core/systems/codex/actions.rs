//! The action of presets.

use super::compact::{newest, renewed, summary};
use super::estimate::since_answer;
use crate::chat::{PendingRequest, Replies, n_system};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::summarizing;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[NamedAction::new(
    "codex.compact",
    ActionKind::Summarize,
    "Replaces the history with the user's newest messages and a summary.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["reported", "limit", "user_tokens"])];

fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let (system, rest) = input.messages.split_at(n_system(&input.messages));
    // Codex checks before it adds the message that opens a turn.
    let n_new = match input.call_in_turn {
        0 => rest.iter().rev().take_while(|m| m.is("user")).count(),
        _ => 0,
    };
    let (history, new) = rest.split_at(rest.len() - n_new);
    let used = input.number("reported") + since_answer(history) as f64;
    let done = Rewritten::counted(used as u64);
    if history.is_empty() || used < input.number("limit") {
        return Ok(done);
    }
    let summary = match summary(system, history, replies)? {
        Ok(summary) => summary,
        // The error ends the turn.
        Err(why) => return Ok(done.stopped_by(why)),
    };
    let kept = newest(history, input.count("user_tokens"));
    let added = renewed(history);
    // Within a turn they stand before the turn's message, else first.
    let messages = if new.is_empty() {
        let (earlier, last) = kept.split_at(kept.len().saturating_sub(1));
        [system, earlier, &added, last, &[summary]].concat()
    } else {
        [system, &added, &kept, &[summary], new].concat()
    };
    Ok(Rewritten { fired: true, messages: Some(messages), ..done })
}
