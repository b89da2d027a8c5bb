//! Findings about what a policy did: wiped, orphaned, grew, in vain, over and over.

use super::{Finding, FindingKind, Seen, times};
use crate::engine::{Did, Event, Fate};

/// Compactions before neighbouring calls that make a policy thrash.
const THRASH: usize = 3;

/// The events that satisfy something, as a finding of the first with how many there are.
pub(super) fn found(
    seen: &Seen<'_>,
    kind: FindingKind,
    is_one: impl Fn(&Event) -> bool,
    say: impl Fn(&Event, usize) -> String,
) -> Option<Finding> {
    // What a person did by hand is no fault of the policy.
    let events = seen.outcome.events.iter().filter(|e| !e.is_by_hand());
    let mut all = events.filter(|e| is_one(e));
    let first = all.next()?;
    // What another stage did of the kind is another matter.
    let all: Vec<&Event> = [first]
        .into_iter()
        .chain(all.filter(|e| e.stage == first.stage))
        .collect();
    Some(Finding {
        kind,
        step: first.step,
        times: all.len(),
        text: say(first, all.len()),
    })
}

pub(super) fn wiped(seen: &Seen<'_>) -> Option<Finding> {
    let overhead = seen.case.ledger.overhead;
    let is_wipe = |e: &Event| e.wipes(overhead);
    found(seen, FindingKind::Wiped, is_wipe, |e, n| {
        format!(
            "`{}` removes nearly the whole conversation without a summary ({}; {} \u{2192} {} tokens the first time).",
            e.stage,
            times(n),
            e.before.short(),
            e.after.short()
        )
    })
}

/// A summary that costs a request and saves less than a fiftieth.
pub(super) fn in_vain(seen: &Seen<'_>) -> Option<Finding> {
    let is_vain = |e: &Event| {
        let saved = e.before - e.after;
        e.did == Did::Removed && e.request.is_some() && saved.0 * 50 < e.before.0
    };
    found(seen, FindingKind::InVain, is_vain, |e, n| {
        format!(
            "`{}` pays for a summary that saves almost nothing ({}; {} \u{2192} {} tokens the first time).",
            e.stage,
            times(n),
            e.before.short(),
            e.after.short()
        )
    })
}

pub(super) fn orphans(seen: &Seen<'_>) -> Option<Finding> {
    found(
        seen,
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

pub(super) fn grew(seen: &Seen<'_>) -> Option<Finding> {
    // What repairs or adds a message is meant to.
    let is_meant = |e: &Event| ["repair", "inject"].contains(&e.action);
    let is_shorter = |e: &Event| ["cut", "spill", "clear"].contains(&e.action);
    let is_growth = |e: &Event| {
        let acts = e.did == Did::Removed || (e.did == Did::Changed && is_shorter(e));
        acts && e.after > e.before && !is_meant(e)
    };
    found(seen, FindingKind::Grew, is_growth, |e, n| {
        format!(
            "`{}` makes the context larger ({}; {} \u{2192} {} tokens the first time).",
            e.stage,
            times(n),
            e.before.short(),
            e.after.short()
        )
    })
}

pub(super) fn no_op(seen: &Seen<'_>) -> Option<Finding> {
    found(
        seen,
        FindingKind::NoOp,
        |e| e.did == Did::Nothing,
        |e, n| {
            format!(
                "`{}` runs {} without changing anything, but the system treats it as a success: its cooldowns and counters still apply.",
                e.stage,
                times(n)
            )
        },
    )
}

/// The person's first request went in an event and is not there at the end.
pub(super) fn instruction_lost(seen: &Seen<'_>) -> Option<Finding> {
    let first = seen.case.index.first_user? as usize;
    let fates = seen.outcome.context.fates(seen.case.session.messages.len());
    let (fate, _) = *fates.get(first)?;
    let how = match fate {
        Fate::Summarized => "survives only if a summary repeats it",
        Fate::Dropped => "is gone",
        _ => return None,
    };
    let takes = |e: &Event| e.messages.iter().any(|range| range.contains(&first));
    found(seen, FindingKind::InstructionLost, takes, |e, _| {
        let stage = &e.stage;
        format!("`{stage}` removes the user's first request; at the end it {how}.")
    })
}

/// Something is removed before one call after another.
pub(super) fn thrashing(seen: &Seen<'_>) -> Option<Finding> {
    let removing = seen.outcome.events.iter().filter(|e| e.did == Did::Removed);
    let paid = removing.filter(|e| e.request.is_some()).map(|e| e.step);
    let (mut run, mut longest, mut first, mut last) = (0, 0, 0, None);
    for step in paid {
        run = match last {
            Some(before) if before == step => run,
            Some(before) if before + 1 == step => run + 1,
            _ => 1,
        };
        last = Some(step);
        if run > longest {
            (longest, first) = (run, step + 1 - run);
        }
    }
    (longest >= THRASH).then(|| Finding {
        kind: FindingKind::Thrashing,
        step: first,
        times: longest,
        text: format!(
            "It pays for a summary before each of {longest} consecutive calls: the context reaches the limit again at once."
        ),
    })
}
