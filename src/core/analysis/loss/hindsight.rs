//! The hindsight optimum: a lane that removes each tool result right after the last answer that uses a name of which the
//! result has the newest copy. It puts no reference at risk, and no policy can know it in advance: an upper bound for
//! lossless policies. It sends the fewest tokens; [`super::CheapestRun`] is the optimum in money.

use super::names::Names;
use super::parts::TextPosition;
use crate::engine::{Case, Outcome, cleared_after};
use crate::session::Kind;
use crate::units::{Share, Tokens};

/// Runs the hindsight optimum with this output reserve. A result stays at least for the first call that sees it.
pub fn hindsight(names: &Names, case: &Case, output_reserve: Tokens) -> Outcome {
    cleared_after(case, output_reserve, &last_uses(names, case))
}

/// Returns the tokens that a run saved as a share of the lossless maximum. A policy that loses content can save more than
/// 100 %. None if the lossless maximum is zero.
pub fn saved(none: &Outcome, hindsight: &Outcome, lane: &Outcome) -> Option<Share> {
    let sent = |outcome: &Outcome| (outcome.tokens_sent() + outcome.summaries.sent).as_f64();
    let most = sent(none) - sent(hindsight);
    (most > 0.0).then(|| Share((sent(none) - sent(lane)) / most))
}

/// Returns the last call whose answer needs each part; `u32::MAX` for parts that are not tool results of the history.
pub(super) fn last_uses(names: &Names, case: &Case) -> Vec<u32> {
    let session = &case.session;
    let mut last = first_seen(case);
    let mut needs = |copies: &[TextPosition], call: usize| {
        let is_history =
            |place: &&TextPosition| session.messages[place.message as usize].in_history;
        let newest = copies.iter().rev().find(is_history);
        if let Some(last) = newest.and_then(|place| last.get_mut(place.part as usize))
            && *last != u32::MAX
        {
            *last = (*last).max(call as u32);
        }
    };
    for (call, used) in names.uses() {
        needs(names.copies_before(used), call);
    }
    for edit in names.edits.all() {
        for line in &edit.lines {
            needs(
                names.phrases.copies_before(*line, edit.context_end),
                edit.call,
            );
        }
    }
    last
}

/// Returns the first call that sees each tool result.
fn first_seen(case: &Case) -> Vec<u32> {
    let session = &case.session;
    let mut first = vec![u32::MAX; session.parts.len()];
    for call in 0..session.calls.len() {
        for message in &session.messages[session.new_messages(call)] {
            for part in message.parts.clone().filter(|_| message.in_history) {
                if case.index.kinds[part] == Kind::ToolResult {
                    first[part] = call as u32;
                }
            }
        }
    }
    first
}
