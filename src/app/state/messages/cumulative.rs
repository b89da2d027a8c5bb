//! The cumulative tokens of every message: how often it was resent, and when it was last used and by which message.

use crate::analysis::LastUses;
use crate::analysis::resent::{Resent, ResentMessage, resent};
use crate::app::state::model::document::MessageFacts;
use crate::engine::{Case, Outcome};
use crate::session::Kind;
use crate::units::{Share, Tokens};

/// Resent counts and last uses of all messages.
#[derive(Debug)]
pub struct CumulativeTokens {
    resent: Resent,
    /// For each message, the last model message that refers to something in it.
    used_by: Vec<Option<u32>>,
    /// The most cumulative tokens of any message.
    pub heaviest: Tokens,
    /// One entry per call: the cumulative tokens of the messages added there.
    pub heat: Vec<Heat>,
}

/// The cumulative tokens of the messages added at a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    /// Sum of the cumulative tokens (tokens × calls).
    pub tokens: Tokens,
    /// Share of the largest value of any call.
    pub share: Share,
    /// The kind with the most tokens.
    pub kind: Kind,
}

/// The last use of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LastUse {
    /// Index of the call that wrote the message which refers to it.
    pub call: usize,
    /// Index of that message.
    pub message: usize,
}

impl CumulativeTokens {
    /// Scans the session once; `recorded` is the recorded run.
    pub fn new(case: &Case, recorded: &Outcome, facts: &[MessageFacts]) -> Self {
        let resent = resent(case, recorded);
        let uses = LastUses::new(&case.session);
        let used_by =
            (0..facts.len()).map(|message| uses.of_message(message).map(|by| by as u32)).collect();
        let heaviest = resent.messages.iter().map(ResentMessage::cumulative).max();
        Self {
            heat: heat(case, &resent, facts),
            used_by,
            heaviest: heaviest.unwrap_or_default(),
            resent,
        }
    }

    /// Returns how often a message was resent.
    pub fn of(&self, message: usize) -> Option<&ResentMessage> {
        self.resent.messages.get(message)
    }

    /// Returns the cumulative tokens of a message (tokens × calls).
    pub fn tokens(&self, message: usize) -> Tokens {
        self.of(message).map_or(Tokens::ZERO, ResentMessage::cumulative)
    }

    /// Returns the total tokens sent by all calls.
    pub fn sent(&self) -> Tokens {
        self.resent.sent
    }

    /// Returns the last use of a message, as far as names reveal it.
    pub fn last_use(&self, case: &Case, message: usize) -> Option<LastUse> {
        let by = self.used_by.get(message).copied()?? as usize;
        let call = case.session.messages[by].call?;
        Some(LastUse { call, message: by })
    }

    /// Returns the number of calls that resent a message after its last use.
    pub fn calls_after_last_use(&self, case: &Case, message: usize) -> usize {
        let Some(cumulative) = self.of(message) else {
            return 0;
        };
        match (self.last_use(case, message), cumulative.last) {
            (Some(used), Some(last)) if last >= used.call => {
                let after = self.resent.calls_in(used.call + 1..last + 1);
                after.min(cumulative.calls)
            }
            (Some(_), _) => 0,
            (None, _) => cumulative.calls,
        }
    }
}

fn heat(case: &Case, resent: &Resent, facts: &[MessageFacts]) -> Vec<Heat> {
    let cold = Heat { tokens: Tokens::ZERO, share: Share(0.0), kind: Kind::Assistant };
    let mut heat = vec![cold; case.session.calls.len()];
    let mut most = vec![Tokens::ZERO; heat.len()];
    for (facts, cumulative) in facts.iter().zip(&resent.messages) {
        let Some(at) = facts.call.filter(|call| *call < heat.len()) else {
            continue;
        };
        let cost = cumulative.cumulative();
        heat[at].tokens += cost;
        if cost > most[at] {
            (most[at], heat[at].kind) = (cost, facts.kind);
        }
    }
    let largest = heat.iter().map(|h| h.tokens).max().unwrap_or_default();
    for heat in &mut heat {
        heat.share = heat.tokens.share_of(largest);
    }
    heat
}
