//! The totals that answers reported. Every answer of the conversation may scale an estimate.

use super::estimate::{scale, total};
use crate::chat::ChatMessage;
use crate::engine::{Memory, RewriteInput};

/// Key of the totals in memory.
const USAGE: &str = "langchain_usage";

/// Calls with their totals, ascending.
type Totals = Vec<(usize, u64)>;

/// The totals that the answers in a conversation reported.
pub(crate) struct Usage {
    /// The call that is made next.
    call: usize,
    totals: Totals,
}

impl Usage {
    /// Returns the known totals and that of the last call, the action's number `reported`.
    pub(crate) fn new(input: &RewriteInput<'_>) -> Self {
        let known = input.memory.shared::<Totals>(USAGE);
        let mut totals = known.cloned().unwrap_or_default();
        let reported = input.count("reported") as u64;
        if let Some(last) = input.call.checked_sub(1).filter(|_| reported > 0)
            && totals.last().is_none_or(|(call, _)| *call < last)
        {
            totals.push((last, reported));
        }
        let n_answers = input.messages.iter().filter(|m| m.is("assistant")).count();
        totals.retain(|(call, _)| call + n_answers >= input.call);
        Self { call: input.call, totals }
    }

    /// Adds the totals to memory.
    pub(crate) fn remember(&self, memory: impl Into<Memory>) -> Memory {
        memory.into().with(USAGE, self.totals.clone())
    }

    /// Returns the total of each message at the end of the conversation; `None` for messages without one.
    pub(crate) fn of(&self, messages: &[ChatMessage]) -> Vec<Option<u64>> {
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
    pub(crate) fn newest(&self, messages: &[ChatMessage]) -> Option<(usize, u64)> {
        let totals = self.of(messages);
        let at = totals.iter().rposition(Option::is_some)?;
        Some((at, totals[at]?))
    }

    /// Returns the total of the newest answer; 0 if it has none.
    pub(crate) fn of_newest(&self, messages: &[ChatMessage]) -> u64 {
        let newest = messages.iter().rposition(|m| m.is("assistant"));
        let found = self.newest(messages);
        found.map_or(0, |(at, total)| if Some(at) == newest { total } else { 0 })
    }
}

/// Returns the scaled estimate of messages that are counted from the last to the first, by which requests are trimmed:
/// the oldest answer with a total scales.
pub(crate) fn scaled_backwards(messages: &[ChatMessage], totals: &[Option<u64>]) -> u64 {
    let plain = total(messages);
    let oldest = totals.iter().position(Option::is_some);
    match oldest.and_then(|at| Some((at, totals[at]?))) {
        Some((at, reported)) if messages.len() > 1 => {
            scale(plain, reported, total(&messages[at..]))
        }
        _ => plain,
    }
}
