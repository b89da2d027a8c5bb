//! Notes for the user about an executed run.

use super::job::ExportJob;
use crate::engine::{Budget, Effect, Event, Hook, Outcome, Schedule, simulate};
use crate::figure::{counted, tokens};
use crate::session::RecordedCompaction;
use crate::units::Tokens;
use std::collections::BTreeSet;

/// Returns notes about a run, whether it changed anything or not.
pub(super) fn run_notes(job: &ExportJob, outcome: &Outcome) -> Vec<String> {
    let notes = [
        last_call(job),
        late_results(job, outcome),
        overflows(outcome),
        still_too_large(job, outcome.context.tokens()),
    ];
    notes.into_iter().flatten().collect()
}

/// Reports overflows during a replay.
fn overflows(outcome: &Outcome) -> Option<String> {
    match outcome.overflows {
        0 => None,
        1 => Some("1 call of this replay overflowed".to_owned()),
        n => Some(format!("{n} calls of this replay overflowed")),
    }
}

/// Reports a context that overflows or reaches into the output reserve at the next call.
fn still_too_large(job: &ExportJob, after: Tokens) -> Option<String> {
    let call = job.until.unwrap_or(job.case.session.calls.len());
    let window = job.case.windows.at(call);
    let output_reserve = job.policy.output_reserve(&job.knobs, &job.case, call);
    let budget = Budget { window, output_reserve };
    let (limit, size, effect) = if budget.overflows(after) {
        ("context", window, "overflow")
    } else if after > budget.usable() {
        ("usable", budget.usable(), "reach into the output reserve")
    } else {
        return None;
    };
    let size = tokens(size);
    Some(format!(
        "still more than the {limit} window of {size} tokens: the next call would {effect}"
    ))
}

/// Reports a last call whose reported input is smaller than its messages, so that the run cannot start from that size.
fn last_call(job: &ExportJob) -> Option<String> {
    let (session, ledger) = (&job.case.session, &job.case.ledger);
    let is_at_end = job.schedule != Schedule::Replay && job.until.is_none();
    let call = session.calls.len().checked_sub(1).filter(|_| is_at_end)?;
    let reported = session.calls[call].usage?.input;
    let is_short = ledger.overhead_at(call) != ledger.overhead_next();
    let model = session.calls[call].model.map(|model| &session.models[model]);
    let model = model.map(|model| format!(" ({model})")).unwrap_or_default();
    is_short.then(|| {
        format!(
            "call {}{model} reports {} tokens, fewer than its messages have: its context is not recorded, so unrecorded text is estimated from earlier calls",
            call + 1,
            tokens(reported)
        )
    })
}

/// Reports tool results that a replay would change and a policy applied now does not, since stages for tool results act
/// when a result arrives.
fn late_results(job: &ExportJob, outcome: &Outcome) -> Option<String> {
    let (case, policy) = (&job.case, &job.policy);
    let stages = || policy.stages.iter().filter(|s| s.at == Hook::ToolResult);
    if job.schedule == Schedule::Replay || stages().next().is_none() {
        return None;
    }
    let changes_results = |event: &&Event| {
        let is_change = matches!(event.effect, Effect::Removed | Effect::Changed);
        is_change && stages().any(|stage| stage.id == event.stage)
    };
    let results = |outcome: &Outcome| -> BTreeSet<usize> {
        let events = outcome.events.iter().filter(changes_results);
        events.flat_map(|e| e.messages.iter().cloned().flatten()).collect()
    };
    let replay = simulate(case, policy, &job.knobs, job.until);
    let is_before = |c: &&RecordedCompaction| job.until.is_none_or(|call| c.call <= call);
    let compaction = case.session.compactions.iter().rev().find(is_before);
    // Earlier messages were removed by the recorded compaction.
    let since = compaction.map_or(0, |compaction| compaction.before_message);
    let changed = results(outcome);
    let late = results(&replay).range(since..).filter(|m| !changed.contains(m)).count();
    let stages: Vec<&str> = stages().map(|stage| &*stage.id).collect();
    (late > 0).then(|| {
        format!(
            "{} left {} as recorded: {} changed only on arrival, and `--schedule replay` applies that from the first call",
            stages.join(" and "),
            counted(late, "tool result"),
            if late == 1 { "it is" } else { "they are" },
        )
    })
}

/// Returns the tokens before the run: of the last recorded context (now) or of the history up to the same call
/// (replay).
pub(super) fn before(job: &ExportJob, outcome: &Outcome) -> Tokens {
    match job.schedule {
        Schedule::Now { .. } => {
            outcome.events.first().map_or_else(|| outcome.context.tokens(), |e| e.before)
        }
        Schedule::Replay => {
            let history = &job.case.ledger.truth.history_prefix;
            let so_far = history.get(outcome.context.messages_end).or(history.last()).copied();
            Tokens(so_far.unwrap_or(0)) + job.case.ledger.overhead
        }
    }
}
