//! The lane of hindsight: each tool result goes right after the last answer that names something of which it holds the
//! newest copy. It loses nothing by these measures, and no policy can know it: a bound for policies that lose nothing.

use super::names::{Names, Place};
use crate::engine::{Case, Outcome, cleared_after};
use crate::session::Kind;
use crate::units::{Share, Tokens};

/// Plays it, for the same room as a lane with this output reserve. A result stays for the first call that sees it.
pub fn hindsight(names: &Names, case: &Case, output_reserve: Tokens) -> Outcome {
    cleared_after(case, output_reserve, &last_uses(names, case))
}

/// Of the tokens that could have been left unsent without loss, how many a run left unsent; a policy that loses
/// something can save more than all. None if nothing could.
pub fn saved(none: &Outcome, hindsight: &Outcome, lane: &Outcome) -> Option<Share> {
    let sent = |outcome: &Outcome| (outcome.tokens_sent() + outcome.summaries.sent).as_f64();
    let most = sent(none) - sent(hindsight);
    (most > 0.0).then(|| Share((sent(none) - sent(lane)) / most))
}

/// The last step whose answer needs each part, by part; `u32::MAX` for what is no tool result of the history.
fn last_uses(names: &Names, case: &Case) -> Vec<u32> {
    let session = &case.session;
    let mut last = first_seen(case);
    let mut needs = |copies: &[Place], step: usize| {
        let is_history = |place: &&Place| session.messages[place.message as usize].in_history;
        let newest = copies.iter().rev().find(is_history);
        if let Some(last) = newest.and_then(|place| last.get_mut(place.part as usize))
            && *last != u32::MAX
        {
            *last = (*last).max(step as u32);
        }
    };
    for (step, used) in names.uses() {
        needs(names.copies_before(used), step);
    }
    for edit in names.edits.all() {
        for line in &edit.lines {
            needs(
                names.phrases.copies_before(*line, edit.context_end),
                edit.step,
            );
        }
    }
    last
}

/// The first step whose call sees each tool result.
fn first_seen(case: &Case) -> Vec<u32> {
    let session = &case.session;
    let mut first = vec![u32::MAX; session.parts.len()];
    for step in 0..session.calls.len() {
        for message in &session.messages[session.new_messages(step)] {
            for part in message.parts.clone().filter(|_| message.in_history) {
                if case.index.kinds[part] == Kind::ToolResult {
                    first[part] = step as u32;
                }
            }
        }
    }
    first
}
