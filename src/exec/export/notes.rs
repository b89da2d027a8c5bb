//! What a person should know of a run that was executed.

use super::ExportJob;
use crate::engine::{Budget, Outcome, Schedule};
use crate::units::Tokens;

/// A replay may overflow on its way, whatever it ends with.
pub(super) fn overflows(outcome: &Outcome) -> Option<String> {
    match outcome.overflows {
        0 => None,
        1 => Some("1 call of this replay did not fit at first".to_owned()),
        n => Some(format!("{n} calls of this replay did not fit at first")),
    }
}

/// A policy may act and still not help, or not act where it should.
pub(super) fn still_too_large(job: &ExportJob, after: Tokens) -> Option<String> {
    let step = job.until.unwrap_or(job.case.session.steps.len());
    let window = job.case.windows.at(step);
    let output_reserve = job.policy.output_reserve(&job.knobs, &job.case, step);
    let usable = Budget {
        window,
        output_reserve,
    }
    .usable();
    let text = || {
        format!(
            "still more than the usable {} tokens: the next call would not fit",
            usable.0
        )
    };
    (after > usable).then(text)
}

/// Now: the last real context. Replay: the whole history up to the same point.
pub(super) fn before(job: &ExportJob, outcome: &Outcome) -> Tokens {
    match job.schedule {
        Schedule::Now { .. } => outcome
            .events
            .first()
            .map_or_else(|| outcome.context.tokens(), |e| e.before),
        Schedule::Replay => {
            let history = &job.case.ledger.truth.history_prefix;
            let so_far = history
                .get(outcome.context.messages_end)
                .or(history.last())
                .copied();
            Tokens(so_far.unwrap_or(0)) + job.case.ledger.overhead
        }
    }
}
