//! Findings about a full context: the system gives up, never compacts again, or does not handle a rejected call.

use super::{Finding, FindingKind, PolicyRun, times};
use crate::engine::{Effect, Event, Hook};
use crate::figure::whole_percent;
use crate::units::Share;

/// Minimum number of calls over its own limit after which a policy that removes nothing counts as stuck. Chosen: a
/// policy that waits between two compactions may be over its limit meanwhile, and the bundled presets wait for two or
/// three calls.
const STUCK: usize = 5;

/// Finds the call at which the system itself would end the run.
pub(super) fn gives_up(run: &PolicyRun<'_>) -> Option<Finding> {
    let halts = &run.outcome.halts;
    let first = halts.first()?;
    Some(Finding {
        kind: FindingKind::GivesUp,
        call: first.call,
        times: halts.len(),
        text: format!(
            "The system itself would end here ({}): \u{201c}{}\u{201d} The replay continues with the recorded messages.",
            times(halts.len()),
            first.why.trim()
        ),
    })
}

/// Finds a policy that believes to be over its limit until the end and removes nothing.
pub(super) fn never_again(run: &PolicyRun<'_>) -> Option<Finding> {
    let samples = &run.outcome.samples;
    let is_over = |believed: Option<crate::units::Share>| believed.is_some_and(|b| b.0 >= 1.0);
    let n_over = samples.iter().rev().take_while(|s| is_over(s.believed)).count();
    let mut first = samples.len() - n_over;
    // A policy that still removes something is not stuck, unless only a rejected call triggers it.
    let is_rescue = |event: &Event| {
        let stage = run.policy.stages.iter().find(|s| s.id == event.stage);
        stage.is_some_and(|stage| stage.at == Hook::OverflowError)
    };
    let events = run.outcome.events.iter();
    let is_own = |event: &Event| !event.is_manual() && !is_rescue(event);
    let removed = events.filter(|e| e.effect == Effect::Removed && is_own(e));
    if let Some(last) = removed.map(|e| e.call).max() {
        first = first.max(samples.partition_point(|s| s.call <= last));
    }
    let over = &samples[first..];
    let (begin, end) = (over.first()?, over.last()?);
    if over.len() < STUCK {
        return None;
    }
    let fired = run.outcome.events.iter();
    let without_effect =
        fired.filter(|e| e.call >= begin.call && e.effect == Effect::Nothing).count();
    let tried = if without_effect > 0 {
        format!(" It ran {} without effect.", times(without_effect))
    } else {
        String::new()
    };
    let believed = end.believed.map_or(0.0, |b| b.0);
    Some(Finding {
        kind: FindingKind::NeverAgain,
        call: begin.call,
        times: over.len(),
        text: format!(
            "It is over its own limit for the last {} calls (up to {} of it) and removes nothing any more.{tried}",
            over.len(),
            whole_percent(Share(
                over.iter().filter_map(|s| s.believed).map(|b| b.0).fold(believed, f64::max)
            )),
        ),
    })
}

/// Finds rejected calls of a policy without an overflow handler.
pub(super) fn unhandled(run: &PolicyRun<'_>) -> Option<Finding> {
    let handles = |stage: &crate::engine::Stage| stage.at == Hook::OverflowError;
    if run.policy.stages.is_empty() || run.policy.stages.iter().any(handles) {
        return None;
    }
    let rejected: Vec<_> = run.outcome.samples.iter().filter(|s| s.overflows).collect();
    let first = rejected.first()?;
    Some(Finding {
        kind: FindingKind::UnhandledOverflow,
        call: first.call,
        times: rejected.len(),
        text: format!(
            "Calls are rejected ({}; the first at {} of the window), and this policy has no handler for that.",
            times(rejected.len()),
            whole_percent(first.tokens.share_of(first.window))
        ),
    })
}
