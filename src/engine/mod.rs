//! Plays a session through a policy. The same code simulates and executes.
//!
//! What a run needs from the world (a summary) it asks for as a [`Request`] and goes on when a [`Reply`] is provided:
//! the engine itself never waits, reads, prints, or looks at a clock. Same inputs, same events.

mod budget;
mod context;
mod digest;
mod estimator;
mod event;
mod executed;
mod expr;
mod index;
mod outcome;
mod plan;
mod policy;
mod policy_toml;
mod recorded;
mod request;
mod run;
mod select;
mod stages;
mod working;

pub use budget::{Budget, WindowPlan, WindowSource};
pub use context::{Context, Dropped, Edited, Entry, EntryBody, Fate, PartFate, Written};
pub use digest::digest;
pub use event::{Cause, Event};
pub use executed::{ExecutedContext, PredictedText};
pub use expr::{Expr, ExprError, Moment, Quantity, Type, Vocabulary};
pub use index::SessionIndex;
pub use outcome::{Outcome, Sample, SummaryTraffic};
pub use policy::{Knob, KnobRole, KnobValues, Policy, PolicyError};
pub use recorded::recorded;
pub use request::{Reply, Request};
pub use run::{Answer, Poll, Run, Schedule, drive, simulate};
pub use stages::{Action, Boundary, Clear, Drop, Guard, Hook, Keep, Stage, Summarize, Take, What};

use crate::session::Session;
use crate::tokens::TokenLedger;
use std::sync::Arc;

/// What a policy is played over: a session, its weights and the room there was.
#[derive(Clone, Debug)]
pub struct Case {
    /// What was said.
    pub session: Arc<Session>,
    /// What it weighs.
    pub ledger: Arc<TokenLedger>,
    /// The context window at every step.
    pub windows: Arc<WindowPlan>,
    /// What runs need to know about the session, worked out once.
    pub index: Arc<SessionIndex>,
}

impl Case {
    /// A case; works out the session's index.
    pub fn new(session: Arc<Session>, ledger: TokenLedger, windows: WindowPlan) -> Self {
        let index = Arc::new(SessionIndex::new(&session));
        Self {
            session,
            ledger: Arc::new(ledger),
            windows: Arc::new(windows),
            index,
        }
    }

    /// The same session with other windows (set by hand).
    #[must_use]
    pub fn with_windows(&self, windows: WindowPlan) -> Self {
        Self {
            windows: Arc::new(windows),
            ..self.clone()
        }
    }

    /// The same session counted another way.
    #[must_use]
    pub fn with_ledger(&self, ledger: TokenLedger) -> Self {
        Self {
            ledger: Arc::new(ledger),
            ..self.clone()
        }
    }
}
