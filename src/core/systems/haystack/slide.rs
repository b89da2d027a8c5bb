//! `SlidingWindowCompactor`: keeps instructions, the current task, and the newest turns or steps that fit.

use super::conversation::Conversation;
use super::hook::{self, check, compacted};
use crate::chat::ChatMessage;
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::numbers_only;

pub(super) const ACTION: NamedAction = NamedAction::new(
    "haystack.slide",
    ActionKind::Drop,
    "Removes the oldest turns, then the oldest steps of the current task, and leaves a note.",
    |settings| numbers_only(settings, slide_window),
)
.with_numbers(&hook::NUMBERS);

fn slide_window(input: &RewriteInput<'_>) -> Rewritten {
    let all = Conversation::new(&input.messages);
    let (due, done) = check(input, &all);
    let Some(due) = due else {
        return done;
    };
    let after = slide(&all, due.target, input.count("min_keep_steps"));
    match after {
        Some(messages) => compacted(input, &due, messages, done),
        None => done,
    }
}

/// Returns the conversation without its oldest part; `None` if nothing but an earlier note can go.
fn slide(all: &Conversation, target: u64, min_keep_steps: usize) -> Option<Vec<ChatMessage>> {
    if all.count_all(0) <= target {
        return None;
    }
    let is_note = |at: usize| all.messages[at].written.is_some();
    let turns = all.turns().into_iter();
    let turns: Vec<Vec<usize>> = turns.map(|t| t.filter(|at| !is_note(*at)).collect()).collect();
    let steps = all.steps(all.task_start()).into_iter();
    let steps: Vec<Vec<usize>> = steps.map(Iterator::collect).collect();
    let system = 0..all.n_system;
    let available = target.cast_signed() - all.count(system.clone().chain(all.task)).cast_signed();
    let of_task = all.count(steps.iter().flatten().copied()).cast_signed();
    let (first_turn, first_step) = if of_task > available {
        let fits = first_to_keep(all, &steps, available);
        (turns.len(), fits.min(steps.len().saturating_sub(min_keep_steps)))
    } else {
        (first_to_keep(all, &turns, available - of_task), 0)
    };
    let mut kept: Vec<usize> = system.collect();
    let mut note_at = kept.len();
    kept.extend(turns[first_turn..].iter().flatten().copied().chain(all.task));
    if first_step > 0 {
        note_at = kept.len();
    }
    kept.extend(steps[first_step..].iter().flatten().copied());
    let mut removed = (0..all.messages.len()).filter(|at| kept.binary_search(at).is_err());
    if removed.clone().all(is_note) {
        return None;
    }
    let n_removed = removed.by_ref().count();
    let note = format!(
        "[{n_removed} earlier messages were removed from this conversation to free up context and cannot be recovered.]"
    );
    let mut messages: Vec<_> = kept.iter().map(|at| all.messages[*at].clone()).collect();
    messages.insert(note_at, ChatMessage::notice("user", note));
    Some(messages)
}

/// Returns the first of the newest groups that fit together.
fn first_to_keep(all: &Conversation, groups: &[Vec<usize>], mut available: i64) -> usize {
    let mut first = groups.len();
    while let Some(group) = first.checked_sub(1).map(|at| &groups[at]) {
        let tokens = all.count(group.iter().copied()).cast_signed();
        if tokens > available {
            break;
        }
        available -= tokens;
        first -= 1;
    }
    first
}
