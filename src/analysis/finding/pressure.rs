//! Findings about being too full: the system gives up, never acts again, or does not handle a rejected call.

use super::{Finding, FindingKind, Seen, percent, times};
use crate::engine::{Did, Event, Hook};

/// Calls over its own limit after which a policy that removes nothing is taken to be stuck.
const STUCK: usize = 5;

pub(super) fn gives_up(seen: &Seen<'_>) -> Option<Finding> {
    let halts = &seen.outcome.halts;
    let first = halts.first()?;
    Some(Finding {
        kind: FindingKind::GivesUp,
        step: first.step,
        times: halts.len(),
        text: format!(
            "The system itself would end here ({}): \u{201c}{}\u{201d} The replay continues with the recorded messages.",
            times(halts.len()),
            first.why.trim()
        ),
    })
}

/// From some call to the end it believes itself over its limit, and nothing is removed.
pub(super) fn never_again(seen: &Seen<'_>) -> Option<Finding> {
    let samples = &seen.outcome.samples;
    let is_over = |believed: Option<crate::units::Share>| believed.is_some_and(|b| b.0 >= 1.0);
    let n_over = samples
        .iter()
        .rev()
        .take_while(|s| is_over(s.believed))
        .count();
    let mut first = samples.len() - n_over;
    // What still removes something is not stuck; what only a rejected call sets off is no cure.
    let is_rescue = |event: &Event| {
        let stage = seen.policy.stages.iter().find(|s| s.id == event.stage);
        stage.is_some_and(|stage| stage.at == Hook::OverflowError)
    };
    let events = seen.outcome.events.iter();
    let is_own = |event: &Event| !event.is_manual() && !is_rescue(event);
    let removed = events.filter(|e| e.did == Did::Removed && is_own(e));
    if let Some(last) = removed.map(|e| e.step).max() {
        first = first.max(samples.partition_point(|s| s.step <= last));
    }
    let over = &samples[first..];
    let (begin, end) = (over.first()?, over.last()?);
    if over.len() < STUCK {
        return None;
    }
    let fired = seen.outcome.events.iter();
    let vain = fired
        .filter(|e| e.step >= begin.step && e.did == Did::Nothing)
        .count();
    let tried = if vain > 0 {
        format!(" It ran {} without effect.", times(vain))
    } else {
        String::new()
    };
    let believed = end.believed.map_or(0.0, |b| b.0);
    Some(Finding {
        kind: FindingKind::NeverAgain,
        step: begin.step,
        times: over.len(),
        text: format!(
            "It is over its own limit for the last {} calls (up to {} of it) and removes nothing any more.{tried}",
            over.len(),
            percent(
                over.iter()
                    .filter_map(|s| s.believed)
                    .map(|b| b.0)
                    .fold(believed, f64::max)
            ),
        ),
    })
}

pub(super) fn unhandled(seen: &Seen<'_>) -> Option<Finding> {
    let handles = |stage: &crate::engine::Stage| stage.at == Hook::OverflowError;
    if seen.policy.stages.is_empty() || seen.policy.stages.iter().any(handles) {
        return None;
    }
    let rejected: Vec<_> = seen
        .outcome
        .samples
        .iter()
        .filter(|s| s.overflows)
        .collect();
    let first = rejected.first()?;
    Some(Finding {
        kind: FindingKind::UnhandledOverflow,
        step: first.step,
        times: rejected.len(),
        text: format!(
            "Calls are rejected ({}; the first at {} of usable), and this policy has no handler for that.",
            times(rejected.len()),
            percent(first.pressure.0)
        ),
    })
}
