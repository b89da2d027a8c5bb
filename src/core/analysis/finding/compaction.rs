//! Findings about compactions: wiped history, unpaired calls, growth, small savings, repetition.

use super::{Finding, FindingKind, PolicyRun, times};
use crate::engine::{Effect, Event, MessageStatus, Outcome};
use crate::figure::tokens;
use crate::units::Tokens;
use std::ops::Range;

/// Minimum number of consecutive calls with a summary that counts as thrashing. Two in a row can be a retry, or a large
/// result right after a summary; a third means that summaries do not get the context below the trigger.
const THRASH: usize = 3;

/// Returns a finding about the events that satisfy a condition: the first one, and the number of those of its stage.
pub(super) fn found(
    run: &PolicyRun<'_>,
    kind: FindingKind,
    is_one: impl Fn(&Event) -> bool,
    say: impl Fn(&Event, usize) -> String,
) -> Option<Finding> {
    // Manual edits are not findings about the policy.
    let events = run.outcome.events.iter().filter(|e| !e.is_manual());
    let mut all = events.filter(|e| is_one(e));
    let first = all.next()?;
    // Events of other stages are not counted.
    let all: Vec<&Event> =
        [first].into_iter().chain(all.filter(|e| e.stage == first.stage)).collect();
    Some(Finding { kind, call: first.call, times: all.len(), text: say(first, all.len()) })
}

/// Returns the tokens before and after an event. Rounds them if their difference stays visible.
pub(super) fn change(e: &Event) -> String {
    let [before, after] = distinct([e.before, e.after]);
    format!("{before} \u{2192} {after}")
}

fn distinct(counts: [Tokens; 2]) -> [String; 2] {
    let short = counts.map(Tokens::short);
    if short[0] == short[1] {
        return counts.map(tokens);
    }
    short
}

/// Finds compactions without a summary that leave almost nothing.
pub(super) fn wiped(run: &PolicyRun<'_>) -> Option<Finding> {
    let overhead = run.case.ledger.overhead;
    let is_wipe = |e: &Event| e.wipes(overhead);
    found(run, FindingKind::Wiped, is_wipe, |e, n| {
        format!(
            "`{}` removes nearly the whole conversation without a summary ({}; {} tokens the first time).",
            e.stage,
            times(n),
            change(e)
        )
    })
}

/// Finds summaries that save less than 2 %.
pub(super) fn summary_saved_little(run: &PolicyRun<'_>) -> Option<Finding> {
    let is_vain = |e: &Event| {
        let saved = e.before - e.after;
        e.effect == Effect::Removed && e.request.is_some() && saved.0 * 50 < e.before.0
    };
    found(run, FindingKind::SummarySavedLittle, is_vain, |e, n| {
        format!(
            "`{}` pays for a summary that saves almost nothing ({}; {} tokens the first time).",
            e.stage,
            times(n),
            change(e)
        )
    })
}

/// Finds calls and results that lost their partner.
pub(super) fn orphans(run: &PolicyRun<'_>) -> Option<Finding> {
    found(
        run,
        FindingKind::OrphanedPairs,
        |e| e.orphans > 0,
        |e, n| {
            format!(
                "`{}` separates calls from their results ({}; {} left without their partner the first time). A provider rejects such a request unless something repairs it.",
                e.stage,
                times(n),
                e.orphans
            )
        },
    )
}

/// Finds compactions that made the context larger.
pub(super) fn grew(run: &PolicyRun<'_>) -> Option<Finding> {
    let is_growth = |e: &Event| {
        let reduces = match e.effect {
            Effect::Removed => true,
            Effect::Changed => e.action.shortens(),
            Effect::Nothing | Effect::Logged => false,
        };
        reduces && e.after > e.before && !e.action.adds_content()
    };
    found(run, FindingKind::Grew, is_growth, |e, n| {
        format!(
            "`{}` makes the context larger ({}; {} tokens the first time).",
            e.stage,
            times(n),
            change(e)
        )
    })
}

/// Finds stages that ran without changing anything.
pub(super) fn no_op(run: &PolicyRun<'_>) -> Option<Finding> {
    found(
        run,
        FindingKind::NoOp,
        |e| e.effect == Effect::Nothing,
        |e, n| {
            format!(
                "`{}` runs {} without changing anything, but the system treats it as a success: its cooldowns and counters still apply.",
                e.stage,
                times(n)
            )
        },
    )
}

/// Finds the removal of the user's first request, if it is missing at the end.
pub(super) fn instruction_lost(run: &PolicyRun<'_>) -> Option<Finding> {
    let first = run.case.index.first_user? as usize;
    let statuses = run.outcome.context.statuses(run.case.session.messages.len());
    let (status, _) = *statuses.get(first)?;
    let how = match status {
        MessageStatus::Summarized => "survives only if a summary repeats it",
        MessageStatus::Dropped => "is gone",
        MessageStatus::Kept
        | MessageStatus::Cleared
        | MessageStatus::Cut
        | MessageStatus::Absent => return None,
    };
    let takes = |e: &Event| e.messages.iter().any(|range| range.contains(&first));
    found(run, FindingKind::InstructionLost, takes, |e, _| {
        let stage = &e.stage;
        format!("`{stage}` removes the user's first request; at the end it {how}.")
    })
}

/// Returns the longest series of consecutive calls with a summary before each, if it counts as thrashing.
pub fn thrashing_calls(outcome: &Outcome) -> Option<Range<usize>> {
    let removing = outcome.events.iter().filter(|e| e.effect == Effect::Removed);
    let (mut longest, mut series) = (0..0, 0..0);
    for event in removing.filter(|e| e.request.is_some()) {
        if event.call + 1 == series.end {
            continue;
        }
        if event.call != series.end {
            series.start = event.call;
        }
        series.end = event.call + 1;
        if series.len() > longest.len() {
            longest = series.clone();
        }
    }
    (longest.len() >= THRASH).then_some(longest)
}

/// Finds summaries before consecutive calls.
pub(super) fn thrashing(run: &PolicyRun<'_>) -> Option<Finding> {
    let calls = thrashing_calls(run.outcome)?;
    Some(Finding {
        kind: FindingKind::Thrashing,
        call: calls.start,
        times: calls.len(),
        text: format!(
            "It pays for a summary before each of {} consecutive calls: the context reaches the limit again at once.",
            calls.len()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_change_is_shown_exactly() {
        let shown = |before, after| distinct([Tokens(before), Tokens(after)]);
        assert_eq!(shown(61_210, 61_240), ["61,210", "61,240"]);
        assert_eq!(shown(61_210, 71_240), ["61.2k", "71.2k"]);
    }
}
