//! The cause of a crossing: a large message, the system prompt and tools, or the beginning of the session.

use crate::engine::{Case, Sample};
use crate::session::{Kind, Role};
use crate::units::Tokens;
use std::ops::Range;

/// Cause of a crossing.
pub(super) enum Culprit {
    /// The largest new message.
    Message(usize),
    /// System prompt and tools.
    Base(Tokens),
    /// The given number of messages at once, none of them large.
    Beginning(usize),
}

/// Minimum share of a first call's tokens that makes a message, or system prompt and tools, the cause. Chosen: at half
/// of it, the largest of eight equal messages would be blamed; at double, a prompt with 45 % of the context would not
/// be named.
pub(super) const LARGE_SHARE: f64 = 0.25;

/// Returns what made a call cross a limit.
pub(super) fn culprit(case: &Case, samples: &[Sample], sample: &Sample) -> Option<Culprit> {
    let call = sample.call;
    if call >= case.session.calls.len() {
        return None;
    }
    let before = call.checked_sub(1).and_then(|call| samples.get(call));
    let base = base(sample);
    let base_grown = base - before.map_or(Tokens::ZERO, self::base);
    let new = case.session.new_messages(call);
    let heaviest = heaviest_message(case, new.clone());
    let weight = heaviest.map_or(Tokens::ZERO, |message| case.ledger.message(message));
    // The first call may start with a long history; a small part of it is not the cause.
    let grown = sample.tokens - before.map_or(Tokens::ZERO, |before| before.tokens);
    if base_grown > weight && base_grown.share_of(grown).0 >= LARGE_SHARE {
        return Some(Culprit::Base(base));
    }
    let message = heaviest?;
    if call == 0 && weight.share_of(sample.tokens).0 < LARGE_SHARE {
        let spoken = new.filter(|m| is_spoken(case, *m)).count();
        return Some(Culprit::Beginning(spoken));
    }
    Some(Culprit::Message(message))
}

/// Returns the tokens of system prompt and tools, recorded or not.
fn base(sample: &Sample) -> Tokens {
    [Kind::System, Kind::Tools]
        .map(|kind| Tokens::from(sample.by_kind[kind.index()]))
        .into_iter()
        .sum()
}

fn is_spoken(case: &Case, message: usize) -> bool {
    let message = &case.session.messages[message];
    message.in_history && message.role != Role::System
}

/// Returns the largest message of user, model or tools; the first of equal ones.
pub(super) fn heaviest_message(case: &Case, messages: Range<usize>) -> Option<usize> {
    messages
        .filter(|m| is_spoken(case, *m))
        .reduce(|a, b| if case.ledger.message(b) > case.ledger.message(a) { b } else { a })
}
