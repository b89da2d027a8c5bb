//! What every message cost by staying: how long it was carried, when it was last needed and by whom.

use crate::analysis::LastUses;
use crate::analysis::retained::{Carried, Retained, retained};
use crate::app::document::Facts;
use crate::engine::{Case, Outcome};
use crate::session::Kind;
use crate::units::{Share, Tokens};

/// How long messages were carried, and when they were last needed.
#[derive(Debug)]
pub struct CarriedTable {
    retained: Retained,
    /// For each message, the last one of the model that names something it holds.
    used_by: Vec<Option<u32>>,
    /// The most that any message cost by staying.
    pub heaviest: Tokens,
    /// One a step: what came in there and stayed.
    pub heat: Vec<Heat>,
}

/// What the messages that came in at a step cost by staying.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    /// Tokens times calls, of all of them.
    pub retained: Tokens,
    /// The same as a share of the largest step's.
    pub share: Share,
    /// What most of it is.
    pub kind: Kind,
}

/// When a message was last needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LastNeed {
    /// Index of the step that wrote the message which names something in it.
    pub step: usize,
    /// Index of that message.
    pub message: usize,
}

impl CarriedTable {
    /// Looks through the session once; `recorded` is what really happened.
    pub fn new(case: &Case, recorded: &Outcome, facts: &[Facts]) -> Self {
        let retained = retained(case, recorded);
        let uses = LastUses::new(&case.session);
        let used_by = (0..facts.len())
            .map(|message| uses.of_message(message).map(|by| by as u32))
            .collect();
        let heaviest = retained.messages.iter().map(Carried::retained).max();
        Self {
            heat: heat(case, &retained, facts),
            used_by,
            heaviest: heaviest.unwrap_or_default(),
            retained,
        }
    }

    /// How long a message was carried.
    pub fn of(&self, message: usize) -> Option<&Carried> {
        self.retained.messages.get(message)
    }

    /// Tokens times calls of a message.
    pub fn retained(&self, message: usize) -> Tokens {
        self.of(message).map_or(Tokens::ZERO, Carried::retained)
    }

    /// All tokens that calls sent.
    pub fn sent(&self) -> Tokens {
        self.retained.sent
    }

    /// When a message was last needed, as far as names tell.
    pub fn last_need(&self, case: &Case, message: usize) -> Option<LastNeed> {
        let by = self.used_by.get(message).copied()?? as usize;
        let step = case.session.messages[by].step?;
        Some(LastNeed { step, message: by })
    }

    /// Calls that still carried a message after it was needed for the last time.
    pub fn calls_in_vain(&self, case: &Case, message: usize) -> usize {
        let Some(carried) = self.of(message) else {
            return 0;
        };
        match (self.last_need(case, message), carried.last) {
            (Some(need), Some(last)) if last >= need.step => {
                let after = self.retained.calls_in(need.step + 1..last + 1);
                after.min(carried.calls)
            }
            (Some(_), _) => 0,
            (None, _) => carried.calls,
        }
    }
}

fn heat(case: &Case, retained: &Retained, facts: &[Facts]) -> Vec<Heat> {
    let cold = Heat {
        retained: Tokens::ZERO,
        share: Share(0.0),
        kind: Kind::Assistant,
    };
    let mut heat = vec![cold; case.session.steps.len()];
    let mut most = vec![Tokens::ZERO; heat.len()];
    for (facts, carried) in facts.iter().zip(&retained.messages) {
        let Some(at) = facts.step.filter(|step| *step < heat.len()) else {
            continue;
        };
        let cost = carried.retained();
        heat[at].retained += cost;
        if cost > most[at] {
            (most[at], heat[at].kind) = (cost, facts.kind);
        }
    }
    let largest = heat.iter().map(|h| h.retained).max().unwrap_or_default();
    for heat in &mut heat {
        heat.share = heat.retained.share_of(largest);
    }
    heat
}
