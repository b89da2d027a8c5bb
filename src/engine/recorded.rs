//! What really happened: the source's own compactions and the tokens its provider reported.

use super::Case;
use super::budget::Budget;
use super::context::Dropped;
use super::event::{Cause, Event};
use super::outcome::{Outcome, Sample};
use super::working::{Working, join};
use crate::session::RecordedCompaction;
use crate::units::Tokens;

/// The lane `recorded`, up to and including the step with index `until` (to the session's end if none).
/// A sample's tokens are what the provider reported where it did, else our account of the real context.
pub fn recorded(case: &Case, output_reserve: Tokens, until: Option<usize>) -> Outcome {
    let session = &case.session;
    let last = until.map_or(session.steps.len(), |step| {
        (step + 1).min(session.steps.len())
    });
    let mut outcome = Outcome::default();
    let mut compactions = session.compactions.iter().peekable();
    let mut working = Working::new(case);
    for (step_idx, step) in session.steps[..last].iter().enumerate() {
        while let Some(compaction) = compactions.next_if(|c| c.before_message <= step.context_end) {
            working.append_history(compaction.before_message);
            let before = compaction.tokens_before.unwrap_or_else(|| working.tokens());
            working = after(case, compaction);
            outcome.events.push(Event {
                step: step_idx,
                stage: "recorded".to_owned(),
                action: "compaction",
                cause: Cause {
                    when: compaction.trigger.clone(),
                    terms: Vec::new(),
                },
                before,
                after: compaction.tokens_after.unwrap_or_else(|| working.tokens()),
                messages: std::iter::once(0..compaction.before_message).collect(),
                request: None,
            });
        }
        working.append_history(step.context_end);
        working.set_overhead(case.ledger.overhead_at(step_idx));
        let tokens = step
            .usage
            .map_or_else(|| working.tokens(), |usage| usage.input);
        let budget = Budget {
            window: case.windows.at(step_idx),
            output_reserve,
        };
        let pressure = budget.pressure(tokens);
        let overflows = pressure.0 > 1.0;
        outcome.overflows += usize::from(overflows);
        outcome.samples.push(Sample {
            step: step_idx,
            turn: step.turn,
            window: budget.window,
            metered: working.tokens(),
            tokens,
            pressure,
            overflows,
            by_kind: working.by_kind(),
        });
    }
    outcome.compactions = outcome.events.len();
    outcome.context = self::working(case, until).context;
    outcome
}

/// The real context before the step with this index, or at the session's end.
pub(super) fn working(case: &Case, until: Option<usize>) -> Working<'_> {
    let session = &case.session;
    let end = until
        .and_then(|step| session.steps.get(step))
        .map_or(session.messages.len(), |s| s.context_end);
    let last = session
        .compactions
        .iter()
        .rev()
        .find(|c| c.before_message <= end);
    let mut working = last.map_or_else(|| Working::new(case), |compaction| after(case, compaction));
    working.append_history(end);
    working.set_overhead(
        case.ledger
            .overhead_at(until.unwrap_or(session.steps.len())),
    );
    working
}

/// The context right after a recorded compaction: exactly what it kept.
fn after<'a>(case: &'a Case, compaction: &RecordedCompaction) -> Working<'a> {
    let is_gone = |m: &usize| case.session.messages[*m].in_history && !compaction.kept.contains(m);
    let gone = (0..compaction.before_message)
        .filter(is_gone)
        .map(|m| m as u32..m as u32 + 1);
    let dropped = join(gone.collect()).into_iter().map(|messages| Dropped {
        messages,
        event: None,
    });
    let kept: Vec<u32> = compaction.kept.iter().map(|m| *m as u32).collect();
    Working::resume(case, &kept, dropped.collect(), compaction.before_message)
}
