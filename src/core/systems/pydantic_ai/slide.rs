//! `SlidingWindowCompaction`: keeps the first request of the user and the newest messages.

use super::history::{History, Start, state};
use super::size;
use crate::chat::ChatMessage;
use crate::engine::{ActionKind, Memory, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::{joined, numbers_only};
use std::collections::HashSet;

pub(super) const ACTION: NamedAction = NamedAction::new(
    "pydantic_ai.slide",
    ActionKind::Drop,
    "Removes all messages but the first request of the user and the newest.",
    |settings| numbers_only(settings, slide),
)
.with_numbers(&const { joined::<5>(&[&size::NUMBERS, &["keep_messages", "preserve_first"]]) });

/// Number of messages before a cut whose calls are searched.
// As in pydantic-ai-harness 0.62.0, `_TOOL_PAIR_SEARCH_RANGE` (`compaction/_shared.py`).
const SEARCHED: usize = 5;

fn slide(input: &RewriteInput<'_>) -> Rewritten {
    let history = History::new(input);
    let has_too_many = size::has_too_many(input, history.len());
    let mut done =
        Rewritten { memory: size::remembered(input, Memory::default()), ..Rewritten::default() };
    if !has_too_many {
        done.compared = size::compared(input);
        let is_above = |count: u64| count as f64 > input.number("max_tokens");
        if !done.compared.is_some_and(is_above) {
            return done;
        }
    }
    let messages = &history.messages;
    let first_kept = messages.len().saturating_sub(input.count("keep_messages").max(1));
    let first_kept = (0..=first_kept).rev().find(|cut| is_safe(messages, *cut));
    let first_kept = first_kept.unwrap_or(0);
    let has_user = |message: &&&[ChatMessage]| message.iter().any(|m| m.is("user"));
    let first = messages[..first_kept].iter().find(has_user);
    let first = first.filter(|_| input.flag("preserve_first"));
    let kept = &messages[first_kept..];
    let start = match (first, kept.first()) {
        (Some(first), Some(next)) if !next[0].is("assistant") => Start::Separate(first.len()),
        _ => Start::Plain,
    };
    let n_kept = kept.len() + usize::from(first.is_some());
    if n_kept == messages.len() {
        return done;
    }
    done.fired = true;
    done.memory = size::remembered(input, state(input, &start));
    let kept = first.into_iter().chain(kept).copied().flatten();
    done.messages = Some(history.system.iter().chain(kept).cloned().collect());
    done
}

/// Returns whether a cut before a message separates no result from its call.
fn is_safe(messages: &[&[ChatMessage]], cut: usize) -> bool {
    let before = messages[cut.saturating_sub(SEARCHED)..cut].iter();
    let calls = before.copied().flatten().flat_map(ChatMessage::calls);
    let ids: HashSet<&str> = calls.filter_map(|call| call.id.as_deref()).collect();
    let mut after = messages[cut..].iter().copied().flatten();
    !after.any(|m| m.is("tool") && m.call_id.as_deref().is_some_and(|id| ids.contains(id)))
}
