//! What came of a run: one sample a model call, the events, and the context it ended with.

use super::budget::Budget;
use super::context::Context;
use super::event::Event;
use super::seen::Seen;
use crate::session::Kind;
use crate::units::{Share, Tokens};

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// One sample a step, in order.
    pub samples: Vec<Sample>,
    /// What the stages did, in order.
    pub events: Vec<Event>,
    /// What each call saw of the session.
    pub seen: Seen,
    /// The context where the run stopped: as the last call saw it, or as a manual compaction left it.
    pub context: Context,
    /// True tokens of the context where the run stopped, before manual edits.
    pub end: Tokens,
    /// These as a share of usable.
    pub end_pressure: Share,
    /// Firings that removed something. Manual edits are none.
    pub compactions: usize,
    /// Steps whose first try did not fit.
    pub overflows: usize,
    /// Tokens of calls that were rejected: tries that did not fit, and calls that the provider refused.
    pub tokens_rejected: Tokens,
    /// Requests for summaries, which `tokens_sent` leaves out.
    pub summaries: SummaryTraffic,
    /// Why the last stage that could have acted did nothing, if none acted.
    pub idle: Option<Idle>,
    /// Where the system itself would have given up; the replay goes on with what was recorded.
    pub halts: Vec<Halt>,
    /// What is odd about this run, as sentences.
    pub warnings: Vec<String>,
}

/// The system gives up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    /// Index of the step.
    pub step: usize,
    /// Its error, in its own words.
    pub why: String,
}

/// Why a stage did nothing; a later reason weighs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Idle {
    /// Its trigger is not met.
    NotMet,
    /// It rests after an attempt.
    Resting,
    /// The prompt cache is warm, and the context still fits.
    CacheWarm,
    /// All there is is kept.
    NothingToTake,
    /// Its guard held it back: it would not save enough.
    GuardHeld,
    /// The summary it asked for could not be had or used; the run's warnings say why.
    Failed,
}

/// Requests for summaries in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummaryTraffic {
    /// How many.
    pub requests: usize,
    /// Tokens they sent.
    pub sent: Tokens,
    /// Tokens they got back.
    pub received: Tokens,
}

/// The context at one model call, as finally made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Index of the step.
    pub step: usize,
    /// Its turn.
    pub turn: u32,
    /// The context window.
    pub window: Tokens,
    /// Tokens as the policy's own meter counts them.
    pub metered: Tokens,
    /// True tokens.
    pub tokens: Tokens,
    /// True tokens as a share of usable (window minus output reserve).
    pub pressure: Share,
    /// How full the policy itself believes the context to be, where it says.
    pub believed: Option<Share>,
    /// The first try did not fit.
    pub overflows: bool,
    /// The provider refused the call in the file, and it does not fit here either: there is no answer to pay for, and its
    /// tokens are among the rejected ones.
    pub refused: bool,
    /// True tokens of the tries that were rejected before this call, its own included where it was refused.
    pub rejected: Tokens,
    /// True tokens that the prompt shares with that of the call before, from its beginning.
    pub unchanged: Tokens,
    /// True tokens by kind, in the order of [`Kind::ALL`]; their sum is `tokens`, except on the lane `recorded`,
    /// where `tokens` is what the provider reported and this is our account of it.
    pub by_kind: [u32; Kind::ALL.len()],
}

/// The largest context of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Index of the step; none where the run's end is larger than every call.
    pub step: Option<usize>,
    /// True tokens.
    pub tokens: Tokens,
}

impl Outcome {
    /// Gives back the room that its lists grew ahead, for those who keep it.
    pub fn shrink_to_fit(&mut self) {
        self.samples.shrink_to_fit();
        self.events.shrink_to_fit();
        self.context.entries.shrink_to_fit();
        self.seen.changes.shrink_to_fit();
    }

    /// The largest call and its step's index.
    pub fn largest_call(&self) -> Option<(usize, Tokens)> {
        // The first of equals: where it was reached.
        self.samples
            .iter()
            .map(|s| (s.step, s.tokens))
            .reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// The largest context of all calls and of the end, which no call has seen yet. Manual edits are left out.
    pub fn peak(&self) -> Option<Peak> {
        let (step, tokens) = self.largest_call()?;
        let end = self.end;
        Some(if end > tokens {
            Peak {
                step: None,
                tokens: end,
            }
        } else {
            Peak {
                step: Some(step),
                tokens,
            }
        })
    }

    /// The peak as a share of usable.
    pub fn peak_share(&self) -> Share {
        let largest = self.samples.iter().map(|sample| sample.pressure.0);
        Share(largest.fold(self.end_pressure.0, f64::max))
    }

    /// Notes how large the context is where the run stopped.
    pub(super) fn stop_at(&mut self, tokens: Tokens, budget: Budget) {
        self.end = tokens;
        self.end_pressure = budget.pressure(tokens);
    }

    /// Something of the session is gone from the context, by the policy or by manual edits.
    pub fn removes(&self) -> bool {
        self.compactions > 0 || self.events.iter().any(Event::is_by_hand)
    }

    /// The sum of all samples whose call was not refused.
    pub fn tokens_sent(&self) -> Tokens {
        let answered = self.samples.iter().filter(|s| !s.refused);
        answered.map(|s| s.tokens).sum()
    }
}
