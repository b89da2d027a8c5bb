//! The hindsight optimum: every tool result is cleared after its last use.
//!
//! The caller provides the last uses; the engine does not look ahead.

use crate::engine::case::Case;
use crate::engine::case::budget::Budget;
use crate::engine::context::prefix::Prefix;
use crate::engine::context::working::{Which, Working};
use crate::engine::outcome::{Outcome, Sample};
use crate::engine::policy::meter::Meter;
use crate::engine::received::recorder::Recorder;
use crate::units::Tokens;
use std::sync::Arc;

/// Text in the place of a cleared result.
const MARKER: &str = "[cleared]";

/// Replays the session and clears each tool result right after a call. `last` holds the index of this call by part, no
/// earlier than the first call that sees the part; `u32::MAX` for parts that stay. A result that weighs no more than its
/// marker stays too. The outcome lists no events, only their number.
pub fn cleared_after(case: &Case, output_reserve: Tokens, last: &[u32]) -> Outcome {
    let marker: Arc<str> = MARKER.into();
    let weight = case.ledger.weigh(&marker).0 as u32;
    let mut working = Working::new(case, &Meter::TRUE);
    let (mut prefix, mut recorder) = (Prefix::default(), Recorder::new(case));
    let mut outcome = Outcome {
        samples: Vec::with_capacity(case.session.calls.len()),
        ..Outcome::default()
    };
    let by_call = by_last_call(last);
    let mut waiting = by_call.as_slice();
    for (idx, call) in case.session.calls.iter().enumerate() {
        let n_due = waiting.partition_point(|(last, _)| (*last as usize) < idx);
        let due = waiting.split_off(..n_due).unwrap_or_default();
        let live = &working.live;
        let position = |part: &u32| live.binary_search_by_key(part, |result| result.part).ok();
        let due = due.iter().filter_map(|(_, part)| position(part));
        let due = Which::At(due.filter(|at| live[*at].metered > weight).collect());
        if due.len() > 0 {
            working.clear(&due, &marker, outcome.compactions as u32);
            outcome.compactions += 1;
        }
        working.append_history(call.context_end);
        let budget = Budget {
            window: case.windows.at(idx),
            output_reserve,
        };
        let tokens = working.tokens();
        let common = prefix.advance(&working, (None, None), tokens);
        recorder.note(&mut working, idx, common);
        let pressure = budget.pressure(tokens);
        let overflows = budget.overflows(tokens);
        let is_rejected = call.is_rejected && overflows;
        let rejected = if is_rejected { tokens } else { Tokens::ZERO };
        outcome.overflows += usize::from(overflows);
        outcome.tokens_rejected += rejected;
        outcome.samples.push(Sample {
            call: idx,
            turn: call.turn,
            window: budget.window,
            metered: tokens,
            tokens,
            pressure,
            believed: None,
            overflows,
            is_rejected,
            rejected,
            unchanged: common.tokens,
            by_kind: working.by_kind(),
        });
    }
    working.append_history(case.session.messages.len());
    let budget = Budget {
        window: case.windows.at(case.session.calls.len()),
        output_reserve,
    };
    outcome.stop_at(working.tokens(), budget);
    outcome.received = recorder.finish();
    outcome.context = working.context;
    outcome
}

/// Returns the parts that do not stay, each with its last call, in the order of both.
fn by_last_call(last: &[u32]) -> Vec<(u32, u32)> {
    let by_part = last.iter().zip(0..).filter(|(last, _)| **last != u32::MAX);
    let mut by_call: Vec<(u32, u32)> = by_part.map(|(last, part)| (*last, part)).collect();
    by_call.sort_unstable();
    by_call
}
