//! The result of a run: one sample per model call, the events, and the final context.

pub(super) mod event;
pub(super) mod warning;

use crate::engine::case::budget::Budget;
use crate::engine::context::Context;
use crate::engine::received::Received;
use crate::engine::vocabulary::OwnMeasure;
use crate::session::Kind;
use crate::units::{Share, Tokens};
use event::{Effect, Event};
use warning::Warning;

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// One sample per call, in order.
    pub samples: Vec<Sample>,
    /// Actions of the stages, in order.
    pub events: Vec<Event>,
    /// The content of the session that each call received.
    pub received: Received,
    /// The context where the run stopped: that of the last call, or the result of a manual compaction.
    pub context: Context,
    /// True tokens of the context where the run stopped, before manual edits.
    pub end: Tokens,
    /// `end` as a share of the usable window.
    pub end_pressure: Share,
    /// Number of compactions, without manual edits: times that a stage removed what the call before still contained.
    pub compactions: usize,
    /// Number of calls whose first try overflowed: larger than the context window, or rejected in the recorded run.
    pub overflows: usize,
    /// Tokens of rejected calls: tries that overflowed, and calls that the provider rejected.
    pub tokens_rejected: Tokens,
    /// Summary requests, which `tokens_sent` does not include.
    pub summaries: SummaryTraffic,
    /// Reason why the last stage that could have acted did nothing, if none acted.
    pub idle: Option<Idle>,
    /// Points where the system itself would have stopped; the replay continues with the recorded messages.
    pub halts: Vec<Halt>,
    /// Counts that stages compared with a limit, by the index of the call, in order.
    pub compared: Vec<(usize, Tokens)>,
    /// Warnings about this run.
    pub warnings: Vec<Warning>,
}

/// A point where the system stops with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    /// Index of the call.
    pub call: usize,
    /// Its error message, verbatim.
    pub why: String,
}

/// Reason why a stage did nothing; a later variant has priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Idle {
    /// Its trigger is not met.
    NotMet,
    /// It is in its cooldown.
    InCooldown,
    /// The prompt cache is warm, and the context does not reach into the output reserve.
    CacheWarm,
    /// All content is kept.
    NothingToTake,
    /// Its guard held it back: the savings are too small.
    GuardHeld,
    /// The summary request failed or its answer was rejected; the run's warnings give the reason.
    Failed,
}

/// Summary requests of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummaryTraffic {
    /// Number of requests.
    pub requests: usize,
    /// Tokens sent.
    pub sent: Tokens,
    /// Tokens received.
    pub received: Tokens,
}

/// The context at one model call, in its final form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Index of the call.
    pub call: usize,
    /// Its turn.
    pub turn: u32,
    /// The context window.
    pub window: Tokens,
    /// Tokens as the policy's own meter counts them.
    pub metered: Tokens,
    /// True tokens.
    pub tokens: Tokens,
    /// True tokens as a share of the usable window (window minus output reserve). Above 1, the context reaches into the
    /// reserve ([`Self::is_into_reserve`]) or overflows.
    pub pressure: Share,
    /// Fill that the policy believes, if the preset defines it.
    pub believed: Option<Share>,
    /// Whether the first try overflowed: larger than the context window, or rejected in the recorded run. A call that
    /// the provider answered never overflows on the lane `recorded`.
    pub overflows: bool,
    /// Whether the provider rejected the recorded call and would reject this one too. Such a call has no answer and no
    /// cost; its tokens count as rejected.
    pub is_rejected: bool,
    /// True tokens of the rejected tries before this call, and of the call itself if it was rejected.
    pub rejected: Tokens,
    /// True tokens of the prefix that the prompt shares with that of the call before.
    pub unchanged: Tokens,
    /// True tokens by kind, in the order of [`Kind::ALL`]. Their sum is `tokens`, except on the lane `recorded`, where
    /// `tokens` is reported by the provider and this is calculated.
    pub by_kind: [u32; Kind::ALL.len()],
}

/// The largest context of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Index of the call; none if the context at the end is larger than every call.
    pub call: Option<usize>,
    /// True tokens.
    pub tokens: Tokens,
}

impl Sample {
    /// Returns whether the context reaches into the output reserve without an overflow: the provider accepts the call,
    /// but leaves less space for the answer.
    pub fn is_into_reserve(&self) -> bool {
        self.pressure.0 > 1.0 && !self.overflows
    }
}

impl Outcome {
    /// Releases unused capacity of its lists.
    pub fn shrink_to_fit(&mut self) {
        self.samples.shrink_to_fit();
        self.events.shrink_to_fit();
        self.context.entries.shrink_to_fit();
        self.received.changes.shrink_to_fit();
    }

    /// Returns the largest call with its index.
    pub fn largest_call(&self) -> Option<(usize, Tokens)> {
        // Of equal calls, the first.
        self.samples.iter().map(|s| (s.call, s.tokens)).reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// Returns the largest context of all calls and of the end, which no call has received yet. Manual edits are
    /// excluded.
    pub fn peak(&self) -> Option<Peak> {
        let (call, tokens) = self.largest_call()?;
        let end = self.end;
        Some(if end > tokens {
            Peak { call: None, tokens: end }
        } else {
            Peak { call: Some(call), tokens }
        })
    }

    /// Returns the peak as a share of the usable window.
    pub fn peak_share(&self) -> Share {
        let largest = self.samples.iter().map(|sample| sample.pressure.0);
        Share(largest.fold(self.end_pressure.0, f64::max))
    }

    /// Records the size of the context where the run stopped.
    pub(super) fn stop_at(&mut self, tokens: Tokens, budget: Budget) {
        self.end = tokens;
        self.end_pressure = budget.pressure(tokens);
    }

    /// Returns the number of calls whose context reaches into the output reserve. Calls that overflow are not among
    /// them.
    pub fn into_reserve(&self) -> usize {
        self.samples.iter().filter(|s| s.is_into_reserve()).count()
    }

    /// Returns whether the policy or a manual edit removed content of the session.
    pub fn removes(&self) -> bool {
        self.compactions > 0 || self.events.iter().any(Event::is_manual)
    }

    /// Returns whether the policy or a manual edit changed the context, with or without a removal.
    pub fn changes(&self) -> bool {
        let changes = |event: &Event| matches!(event.effect, Effect::Removed | Effect::Changed);
        self.removes() || self.events.iter().any(changes)
    }

    /// Returns the sum of all samples whose call was not rejected.
    pub fn tokens_sent(&self) -> Tokens {
        let answered = self.samples.iter().filter(|s| !s.is_rejected);
        answered.map(|s| s.tokens).sum()
    }
}

impl From<&Sample> for OwnMeasure {
    fn from(sample: &Sample) -> Self {
        Self { metered: sample.metered, believed: sample.believed }
    }
}
