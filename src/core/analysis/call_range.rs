//! Consecutive calls and their figures: growth, messages, cost and cache misses.

use super::cost::{Audit, Cost};
use crate::engine::Sample;
use crate::session::Session;
use crate::units::{Tokens, Usd};

/// Consecutive calls, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallRange {
    /// Index of the first call.
    pub first: usize,
    /// Index of the last call.
    pub last: usize,
}

impl CallRange {
    /// Returns the range with these ends, in either order.
    pub fn between(a: usize, b: usize) -> Self {
        Self { first: a.min(b), last: a.max(b) }
    }

    /// Returns whether a call is in the range.
    pub fn contains(self, call: usize) -> bool {
        (self.first..=self.last).contains(&call)
    }

    /// Returns the sizes of the contexts before the first call and at the last one; `None` if the run has no such call.
    pub fn growth(self, samples: &[Sample]) -> Option<(Tokens, Tokens)> {
        let tokens = |call: usize| samples.get(call).map(|sample| sample.tokens);
        let before = match self.first.checked_sub(1) {
            Some(call) => tokens(call)?,
            None => Tokens::ZERO,
        };
        Some((before, tokens(self.last)?))
    }

    /// Returns the number of messages that these calls wrote or included first.
    pub fn n_messages(self, session: &Session) -> usize {
        let calls = (0..session.messages.len()).filter_map(|message| session.call_of(message));
        calls.filter(|call| self.contains(*call)).count()
    }

    /// Returns the cost, including summary requests and rejected attempts before these calls; `None` if a price is
    /// unknown or no call was billed. Requests after the last call belong to it.
    pub fn cost(self, cost: &Cost) -> Option<Usd> {
        let from = cost.calls.partition_point(|call| call.index < self.first);
        let of_it = cost.calls[from..].iter();
        let mut of_it =
            of_it.take_while(|call| call.index <= self.last).map(|call| call.usd).peekable();
        of_it.peek()?;
        let calls: Option<Usd> = of_it.sum();
        let end = cost.calls.last().map_or(0, |call| call.index);
        let additional = cost.additional.iter();
        let additional = additional.filter(|cost| self.contains(cost.call.min(end)));
        Some(calls? + additional.map(|cost| cost.usd).sum())
    }

    /// Returns the number of calls with a recorded cache miss.
    pub fn n_misses(self, audit: &Audit) -> usize {
        let missed = audit.calls.iter().filter(|call| call.cause.is_some());
        missed.filter(|call| self.contains(call.index)).count()
    }
}
