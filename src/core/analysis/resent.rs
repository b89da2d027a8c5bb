//! Cumulative tokens of each message (its tokens times the calls that sent it), and growth of the context.
//!
//! These figures describe the recorded run: before a recorded compaction every call resends the whole history, after it
//! the messages that the compaction kept and the new ones.

use crate::engine::{Case, Outcome};
use crate::session::{RecordedCompaction, Role, Session};
use crate::units::{Share, Tokens};
use std::cmp::Reverse;
use std::ops::Range;

/// A message and the calls that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResentMessage {
    /// Index of the message.
    pub message: usize,
    /// Actual tokens.
    pub tokens: Tokens,
    /// Number of calls that sent it.
    pub calls: usize,
    /// Index of the last call that sent it, if any.
    pub last: Option<usize>,
}

impl ResentMessage {
    /// Returns the cumulative tokens: tokens times calls.
    pub fn cumulative(&self) -> Tokens {
        Tokens(self.tokens.0.saturating_mul(self.calls as u64))
    }
}

/// The calls that sent each message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resent {
    /// One per message, in order.
    pub messages: Vec<ResentMessage>,
    /// Total tokens of all calls.
    pub sent: Tokens,
    /// Number of answered calls before each call, and in total. In a file with reported usage, a call without usage was
    /// aborted; a rejected call has no answer.
    made: Vec<usize>,
}

impl Resent {
    /// Returns the messages with the most cumulative tokens, without instructions, largest first.
    pub fn heaviest(&self, session: &Session, n: usize) -> Vec<ResentMessage> {
        let is_said = |c: &&ResentMessage| session.messages[c.message].role != Role::System;
        let mut all: Vec<ResentMessage> = self.messages.iter().filter(is_said).copied().collect();
        all.retain(|resent| resent.cumulative() > Tokens::ZERO);
        all.sort_by_key(|resent| (Reverse(resent.cumulative()), resent.message));
        all.truncate(n);
        all
    }

    /// Returns the share of these messages in all tokens sent.
    pub fn share(&self, messages: &[ResentMessage]) -> Share {
        let cumulative: Tokens = messages.iter().map(ResentMessage::cumulative).sum();
        cumulative.share_of(self.sent)
    }

    /// Returns the number of answered calls in a range.
    pub fn calls_in(&self, calls: Range<usize>) -> usize {
        let made_before = |call: usize| self.made[call.min(self.made.len() - 1)];
        made_before(calls.end).saturating_sub(made_before(calls.start))
    }
}

/// Counts the calls that sent each message in the lane `recorded`.
pub fn resent(case: &Case, recorded: &Outcome) -> Resent {
    let session = &case.session;
    let made = made(session, recorded);
    let was_made = |call: usize| made[call] < made[call + 1];
    let sent = recorded.samples.iter().filter(|s| was_made(s.call));
    let mut all = Resent {
        messages: (0..session.messages.len()).map(|message| none(case, message)).collect(),
        sent: sent.map(|sample| sample.tokens).sum(),
        made,
    };
    for (message, calls) in sendings(session) {
        all.resend(message, calls);
    }
    all
}

/// Returns the messages of the recorded contexts, each with the calls whose context contains it. Between two compactions
/// every message in the context stays. A message that a compaction kept has several ranges.
pub(super) fn sendings(session: &Session) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    let (mut begin, mut since) = (0, None::<&RecordedCompaction>);
    for compaction in session.compactions.iter().map(Some).chain([None]) {
        let end = compaction.map_or(session.calls.len(), |c| c.call);
        let first = since.map_or(0, |c| c.before_message);
        let kept = since.map_or(&[][..], |c| &c.kept);
        // A kept message after the compaction joins with the new messages.
        let comes_again = |m: &usize| *m >= first && session.messages[*m].in_history;
        for message in kept.iter().filter(|message| !comes_again(message)) {
            found.push((*message, begin..end));
        }
        found.extend(joins(session, first, begin..end).map(|(message, call)| (message, call..end)));
        (begin, since) = (end.max(begin), compaction);
    }
    found
}

fn none(case: &Case, message: usize) -> ResentMessage {
    ResentMessage { message, tokens: case.ledger.message(message), calls: 0, last: None }
}

fn made(session: &Session, recorded: &Outcome) -> Vec<usize> {
    let is_rejected = |call: usize| recorded.samples.get(call).is_some_and(|s| s.is_rejected);
    let made = (0..session.calls.len()).scan(0, |made, call| {
        *made += usize::from(!is_rejected(call));
        Some(*made)
    });
    std::iter::once(0).chain(made).collect()
}

/// Returns the history messages from `first` on, each with the first of these calls that sent it.
fn joins(
    session: &Session,
    first: usize,
    calls: Range<usize>,
) -> impl Iterator<Item = (usize, usize)> {
    let mut next = first;
    calls.flat_map(move |call| {
        let new = next..session.calls[call].context_end.max(next);
        next = new.end;
        let in_history = new.filter(|message| session.messages[*message].in_history);
        in_history.map(move |message| (message, call))
    })
}

impl Resent {
    fn resend(&mut self, message: usize, calls: Range<usize>) {
        let n_calls = self.calls_in(calls.clone());
        let resent = &mut self.messages[message];
        if n_calls > 0 {
            resent.calls += n_calls;
            resent.last = Some(calls.end - 1);
        }
    }
}

/// Growth of the context at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Index of the call.
    pub call: usize,
    /// Additional tokens compared with the previous call.
    pub grown: Tokens,
    /// The largest new message.
    pub message: Option<usize>,
}

/// Returns the calls at which the context grew, in order.
pub fn growth(case: &Case, recorded: &Outcome) -> Vec<Growth> {
    let pairs = recorded.samples.windows(2);
    let grew = pairs.filter(|pair| pair[1].tokens > pair[0].tokens);
    grew.map(|pair| {
        let call = pair[1].call;
        let new = case.session.new_messages(call);
        let new = new.filter(|message| case.session.messages[*message].in_history);
        Growth {
            call,
            grown: pair[1].tokens - pair[0].tokens,
            message: new.max_by_key(|m| (case.ledger.message(*m), Reverse(*m))),
        }
    })
    .collect()
}

/// Returns the share of all growth that comes from this share of the calls, largest first.
pub fn share_of_largest(growth: &[Growth], calls: Share) -> Share {
    let mut grown: Vec<Tokens> = growth.iter().map(|growth| growth.grown).collect();
    grown.sort_by_key(|grown| Reverse(*grown));
    let n = (grown.len() as f64 * calls.0).ceil() as usize;
    let largest: Tokens = grown.iter().take(n).copied().sum();
    largest.share_of(grown.iter().copied().sum())
}
