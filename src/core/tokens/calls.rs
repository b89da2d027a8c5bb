//! Reported and counted tokens of each call, for the fit.

use super::calibrate::CountedCall;
use super::column::per_message;
use super::weight::Weight;
use crate::session::Session;

/// Sums the tokens of the recorded context of every call. Before any recorded change of the context, it is all
/// messages of the history. After one, it is the kept messages and the history since. `per_message` holds the tokens of each
/// message.
pub fn recorded_estimates(session: &Session, per_message: &[u32]) -> Vec<u64> {
    let mut prefix = Vec::with_capacity(per_message.len() + 1);
    prefix.push(0_u64);
    for (message, weight) in session.messages.iter().zip(per_message) {
        let sum = prefix[prefix.len() - 1];
        prefix.push(sum + if message.in_history { u64::from(*weight) } else { 0 });
    }
    // With sums over all messages before each one, a context costs one subtraction, whatever its length.
    let mut changes = session.context_changes().peekable();
    // Tokens kept by the last change, and the history's sum at its position.
    let (mut kept, mut dropped) = (0, 0);
    let mut estimates = Vec::with_capacity(session.calls.len());
    for (idx, call) in session.calls.iter().enumerate() {
        while let Some(change) = changes.next_if(|c| c.call() <= idx) {
            // Kept messages that follow the change and belong to the history are counted there.
            let counts_again =
                |m: usize| m >= change.before_message() && session.messages[m].in_history;
            kept = change
                .kept()
                .iter()
                .filter(|m| !counts_again(**m))
                .map(|m| u64::from(per_message[*m]))
                .sum();
            dropped = prefix[change.before_message()];
        }
        estimates.push(kept + prefix[call.context_end].saturating_sub(dropped));
    }
    estimates
}

/// Reported and counted tokens of the calls of a session.
pub(super) struct CountedCalls {
    /// Calls whose context the provider counted, in order.
    pub(super) reported: Vec<CountedCall>,
    /// Tokens of the largest context by the counter, including the one at the end.
    pub(super) largest: f64,
}

/// Returns the reported and counted tokens of the calls.
pub(super) fn calls(session: &Session, weights: &[Weight]) -> CountedCalls {
    let column = |of: fn(&Weight) -> u32| {
        let per_part: Vec<u32> = weights.iter().map(of).collect();
        recorded_estimates(session, &per_message(session, &per_part))
    };
    let counted = column(|w| w.counted);
    let since = session.calls.last().map_or(0, |call| call.context_end);
    let messages = session.messages[since..].iter().filter(|m| m.in_history);
    let added: u64 = messages
        .flat_map(|message| &weights[message.parts.clone()])
        .map(|weight| u64::from(weight.counted))
        .sum();
    let end = counted.last().map_or(0, |last| last + added);
    let largest = counted.iter().copied().fold(end, u64::max) as f64;
    let sums = counted.into_iter().zip(column(|w| w.known));
    let calls =
        session.calls.iter().enumerate().zip(sums).filter_map(|((idx, call), (counted, known))| {
            // A failed or aborted call reports nothing.
            let reported = call.reported_size()?;
            let stretch = session.compactions.partition_point(|c| c.call <= idx);
            Some(CountedCall {
                reported: reported.as_f64(),
                counted: counted as f64,
                known: known as f64,
                stretch,
                index: idx,
            })
        });
    let mut calls: Vec<CountedCall> = calls.collect();
    split_at_drops(&mut calls);
    CountedCalls { reported: calls, largest }
}

/// Numbers stretches from 0. Starts a new one if the reported context shrinks permanently without a recorded
/// compaction. A single smaller call is not a drop.
fn split_at_drops(calls: &mut [CountedCall]) {
    // Chosen: contexts shrink a little in ordinary use, since programs leave out old thoughts and reminders. At half,
    // such calls would get overheads of their own. At double, cuts of a few tool results would distort the fit.
    const DROP: f64 = 4_000.0;
    let reported: Vec<f64> = calls.iter().map(|c| c.reported).collect();
    let compactions: Vec<usize> = calls.iter().map(|c| c.stretch).collect();
    let mut drops = 0;
    for (idx, call) in calls.iter_mut().enumerate() {
        if idx > 0 && compactions[idx - 1] == compactions[idx] {
            // The smaller of two calls before and the larger of two calls after: one unusual call on either side, such
            // as that of another model for a title, is no drop.
            let before = reported[idx - 1].min(reported[idx.saturating_sub(2)]);
            let after = reported.get(idx + 1).map_or(reported[idx], |next| next.max(reported[idx]));
            drops += usize::from(after + DROP < before);
        }
        call.stretch = compactions[idx] - compactions[0] + drops;
    }
}
