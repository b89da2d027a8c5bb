//! `ToolResultPruningCompactor`: replaces the oldest large results by a placeholder until the target is reached.

use super::conversation::Conversation;
use super::hook::{self, check, compacted};
use crate::chat::ChatMessage;
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::{joined, numbers_only};

pub(super) const ACTION: NamedAction = NamedAction::new(
    "haystack.prune",
    ActionKind::Clear,
    "Replaces the oldest large results by a placeholder.",
    |settings| numbers_only(settings, prune_results),
)
.with_numbers(&const { joined::<7>(&[&hook::NUMBERS, &["min_tokens"]]) });

fn prune_results(input: &RewriteInput<'_>) -> Rewritten {
    let all = Conversation::new(&input.messages);
    let (due, done) = check(input, &all);
    let Some(due) = due else {
        return done;
    };
    let (keep, min) = (input.count("min_keep_steps"), input.count("min_tokens"));
    match prune(&all, due.target, keep, min as u64) {
        Some(messages) => compacted(input, &due, messages, done),
        None => done,
    }
}

fn prune(all: &Conversation, target: u64, keep: usize, min: u64) -> Option<Vec<ChatMessage>> {
    let mut left = all.count_all(0);
    let steps = all.steps(0).into_iter().filter(|step| step.len() > 1);
    let first_kept = steps.rev().take(keep).last();
    let end = first_kept.map_or(all.messages.len(), |step| step.start);
    let mut messages = all.messages.clone();
    let mut is_changed = false;
    for message in &mut messages[..end] {
        if left <= target {
            break;
        }
        let Some(pruned) = pruned(all, message, min) else {
            continue;
        };
        let saved = all.count_one(message).saturating_sub(all.count_one(&pruned));
        if saved > 0 {
            left = left.saturating_sub(saved);
            *message = pruned;
            is_changed = true;
        }
    }
    is_changed.then_some(messages)
}

/// Returns a result with the placeholder; `None` if it is small or has it already.
fn pruned(all: &Conversation, result: &ChatMessage, min: u64) -> Option<ChatMessage> {
    if !result.is("tool") || all.count_one(result) <= min {
        return None;
    }
    let tool = all.tool(result);
    let text =
        format!("[Tool result removed to free up context. Call `{tool}` again if you need it.]");
    (result.text() != Some(&text)).then(|| result.with_text(text))
}
