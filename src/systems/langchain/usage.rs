//! The totals that answers reported. Every answer of the conversation may scale an estimate.

use super::estimate::{scale, total};
use crate::chat::ChatMessage;
use crate::engine::RewriteInput;
use serde_json::{Value, json};

/// Key of the totals in memory: pairs of a call and a total, ascending.
pub(in crate::systems) const USAGE: &str = "langchain_usage";

/// The totals that the answers in a conversation reported.
pub(in crate::systems) struct Usage {
    /// The call that is made next.
    call: usize,
    /// Calls with their totals, ascending.
    totals: Vec<(usize, u64)>,
}

impl Usage {
    /// Returns the known totals and that of the last call, the action's number `reported`.
    pub(in crate::systems) fn new(input: &RewriteInput<'_>) -> Self {
        let known = input.memory[USAGE].as_array().into_iter().flatten();
        let pair = |pair: &Value| Some((pair[0].as_u64()? as usize, pair[1].as_u64()?));
        let mut totals: Vec<(usize, u64)> = known.filter_map(pair).collect();
        let reported = input.number("reported").max(0.0) as u64;
        if let Some(last) = input.call.checked_sub(1).filter(|_| reported > 0)
            && totals.last().is_none_or(|(call, _)| *call < last)
        {
            totals.push((last, reported));
        }
        let n_answers = input.messages.iter().filter(|m| m.is("assistant")).count();
        totals.retain(|(call, _)| call + n_answers >= input.call);
        Self {
            call: input.call,
            totals,
        }
    }

    /// Returns the totals for memory.
    pub(in crate::systems) fn to_json(&self) -> Value {
        json!(self.totals)
    }

    /// Returns the total of each message at the end of the conversation; `None` for messages without one.
    pub(in crate::systems) fn of(&self, messages: &[ChatMessage]) -> Vec<Option<u64>> {
        let mut call = self.call;
        let mut left = self.totals.iter().rev().copied().peekable();
        let mut totals = vec![None; messages.len()];
        for (message, total) in messages.iter().zip(&mut totals).rev() {
            if message.is("assistant") {
                call = call.wrapping_sub(1);
                *total = left.next_if(|(of, _)| *of == call).map(|(_, total)| total);
            }
        }
        totals
    }

    /// Returns the newest answer with a total, by its position in the end of a conversation.
    pub(in crate::systems) fn newest(&self, messages: &[ChatMessage]) -> Option<(usize, u64)> {
        let totals = self.of(messages);
        let at = totals.iter().rposition(Option::is_some)?;
        Some((at, totals[at]?))
    }

    /// Returns the total of the newest answer; 0 if it has none.
    pub(in crate::systems) fn of_newest(&self, messages: &[ChatMessage]) -> u64 {
        let newest = messages.iter().rposition(|m| m.is("assistant"));
        let found = self.newest(messages);
        found.map_or(0, |(at, total)| if Some(at) == newest { total } else { 0 })
    }
}

/// Returns the scaled estimate of messages that are counted from the last to the first, by which requests are trimmed:
/// the oldest answer with a total scales.
pub(in crate::systems) fn scaled_backwards(
    messages: &[ChatMessage],
    totals: &[Option<u64>],
) -> u64 {
    let plain = total(messages);
    let oldest = totals.iter().position(Option::is_some);
    match oldest.and_then(|at| Some((at, totals[at]?))) {
        Some((at, reported)) if messages.len() > 1 => {
            scale(plain, reported, total(&messages[at..]))
        }
        _ => plain,
    }
}
