//! What every message really cost by staying: its tokens times the calls that carried it, and how the context grew.
//!
//! It speaks of what really happened: before a recorded compaction the whole history was carried, after it what the
//! compaction kept and what was said since.

use crate::engine::{Case, Outcome};
use crate::session::{RecordedCompaction, Role, Session};
use crate::units::{Share, Tokens};
use std::cmp::Reverse;
use std::ops::Range;

/// How long one message was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Index of the message.
    pub message: usize,
    /// True tokens.
    pub tokens: Tokens,
    /// Calls that carried it.
    pub calls: usize,
    /// Index of the last step that did; none if no call did.
    pub last: Option<usize>,
}

impl Carried {
    /// Tokens times calls.
    pub fn retained(&self) -> Tokens {
        Tokens(self.tokens.0.saturating_mul(self.calls as u64))
    }
}

/// How long all messages were carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retained {
    /// One a message, in order.
    pub messages: Vec<Carried>,
    /// All tokens that calls sent, together.
    pub sent: Tokens,
    /// How many calls were answered before each one, and in all. Where a file reports usage, one without any was aborted;
    /// a refused one has no answer.
    made: Vec<usize>,
}

impl Retained {
    /// The messages that weigh most by staying, instructions excepted, heaviest first.
    pub fn heaviest(&self, session: &Session, n: usize) -> Vec<Carried> {
        let is_said = |c: &&Carried| session.messages[c.message].role != Role::System;
        let mut all: Vec<Carried> = self.messages.iter().filter(is_said).copied().collect();
        all.retain(|carried| carried.retained() > Tokens::ZERO);
        all.sort_by_key(|carried| (Reverse(carried.retained()), carried.message));
        all.truncate(n);
        all
    }

    /// What these are of all tokens sent.
    pub fn share(&self, messages: &[Carried]) -> Share {
        let retained: Tokens = messages.iter().map(Carried::retained).sum();
        retained.share_of(self.sent)
    }

    /// How many of these calls were made.
    pub fn calls_in(&self, steps: Range<usize>) -> usize {
        let made_before = |step: usize| self.made[step.min(self.made.len() - 1)];
        made_before(steps.end).saturating_sub(made_before(steps.start))
    }
}

/// How long every message was carried; `recorded` is the lane of that name.
pub fn retained(case: &Case, recorded: &Outcome) -> Retained {
    let session = &case.session;
    let made = made(session, recorded);
    let was_made = |step: usize| made[step] < made[step + 1];
    let sent = recorded.samples.iter().filter(|s| was_made(s.step));
    let mut all = Retained {
        messages: (0..session.messages.len())
            .map(|message| none(case, message))
            .collect(),
        sent: sent.map(|sample| sample.tokens).sum(),
        made,
    };
    // From one compaction to the next, what is there stays there.
    let (mut begin, mut since) = (0, None::<&RecordedCompaction>);
    for compaction in session.compactions.iter().map(Some).chain([None]) {
        let end = compaction.map_or(session.steps.len(), |c| c.step);
        let first = since.map_or(0, |c| c.before_message);
        let kept = since.map_or(&[][..], |c| &c.kept);
        // What it kept may stand behind it; then it comes with what was said since, if it is history at all.
        let comes_again = |m: &usize| *m >= first && session.messages[*m].in_history;
        for message in kept.iter().filter(|message| !comes_again(message)) {
            all.carry(*message, begin..end);
        }
        for (message, step) in joins(session, first, begin..end) {
            all.carry(message, step..end);
        }
        (begin, since) = (end.max(begin), compaction);
    }
    all
}

fn none(case: &Case, message: usize) -> Carried {
    Carried {
        message,
        tokens: case.ledger.message(message),
        calls: 0,
        last: None,
    }
}

fn made(session: &Session, recorded: &Outcome) -> Vec<usize> {
    let reports = session.steps.iter().any(|step| step.usage.is_some());
    let steps = session.steps.iter().enumerate();
    let is_refused = |step: usize| recorded.samples.get(step).is_some_and(|s| s.refused);
    let made = steps.scan(0, |made, (idx, step)| {
        *made += usize::from((!reports || step.usage.is_some()) && !is_refused(idx));
        Some(*made)
    });
    std::iter::once(0).chain(made).collect()
}

/// Messages of the history from `first` on with the first of these steps that carried each.
fn joins(
    session: &Session,
    first: usize,
    steps: Range<usize>,
) -> impl Iterator<Item = (usize, usize)> {
    let mut next = first;
    steps.flat_map(move |step| {
        let new = next..session.steps[step].context_end.max(next);
        next = new.end;
        let in_history = new.filter(|message| session.messages[*message].in_history);
        in_history.map(move |message| (message, step))
    })
}

impl Retained {
    fn carry(&mut self, message: usize, steps: Range<usize>) {
        let calls = self.calls_in(steps.clone());
        let carried = &mut self.messages[message];
        if calls > 0 {
            carried.calls += calls;
            carried.last = Some(steps.end - 1);
        }
    }
}

/// What one step added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Index of the step.
    pub step: usize,
    /// How much more the call sent than the one before.
    pub grown: Tokens,
    /// The heaviest of the messages that were new.
    pub message: Option<usize>,
}

/// Every step at which the context grew, in order; a compaction's own step is none.
pub fn growth(case: &Case, recorded: &Outcome) -> Vec<Growth> {
    let pairs = recorded.samples.windows(2);
    let grew = pairs.filter(|pair| pair[1].tokens > pair[0].tokens);
    grew.map(|pair| {
        let step = pair[1].step;
        let new = case.session.new_messages(step);
        let new = new.filter(|message| case.session.messages[*message].in_history);
        Growth {
            step,
            grown: pair[1].tokens - pair[0].tokens,
            message: new.max_by_key(|m| (case.ledger.message(*m), Reverse(*m))),
        }
    })
    .collect()
}

/// The share of all growth that this share of the steps, the largest, makes up.
pub fn share_of_largest(growth: &[Growth], steps: Share) -> Share {
    let mut grown: Vec<Tokens> = growth.iter().map(|growth| growth.grown).collect();
    grown.sort_by_key(|grown| Reverse(*grown));
    let n = (grown.len() as f64 * steps.0).ceil() as usize;
    let largest: Tokens = grown.iter().take(n).copied().sum();
    largest.share_of(grown.iter().copied().sum())
}
