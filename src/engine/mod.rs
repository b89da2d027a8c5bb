//! Plays a session through a policy. The same code simulates and executes.
//!
//! What a run needs from the world (a summary) it asks for as a [`Request`] and goes on when a [`Reply`] is provided:
//! the engine itself never waits, reads, prints, or looks at a clock. Same inputs, same events.

mod absorb;
mod budget;
mod by_hand;
mod clock;
mod context;
mod diff;
mod digest;
mod estimator;
mod event;
mod executed;
mod expr;
mod file;
mod hindsight;
mod index;
mod marked;
mod memo;
mod memory;
mod merge;
mod meter;
mod named;
mod outcome;
mod own_trigger;
mod pieces;
mod plan;
mod policy;
mod policy_toml;
mod prefix;
mod provider_error;
mod recorded;
mod request;
mod retouch;
mod rewrite;
mod run;
mod scene;
mod seen;
mod select;
mod shorten;
mod spare;
mod stages;
mod sums;
mod taken;
mod totals;
mod transcript;
mod trigger;
mod unseen;
mod view;
mod working;

pub use budget::{Budget, WindowPlan, WindowSource};
pub use by_hand::ByHand;
pub use context::{Context, Dropped, Edited, Entry, EntryBody, Fate, Written};
pub use context::{Left, Marker, PartFate, PartFates};
pub use digest::digest;
pub use estimator::Estimator;
pub use event::{Cause, Did, Event};
pub use executed::{ExecutedContext, PredictedText};
pub use expr::{Expr, ExprError, Moment, Quantity, Type, Vocabulary};
pub use file::{FileContent, NewFile, Storage};
pub use hindsight::cleared_after;
pub use index::SessionIndex;
pub use memo::Memo;
pub use memory::Memory;
pub use meter::{Count, Meter, MeterColumn};
pub use outcome::{Halt, Idle, Outcome, Peak, Sample, SummaryTraffic};
pub use own_trigger::{OwnMeasure, OwnTrigger};
pub use policy::{Knob, KnobRole, KnobValues, Policy, PolicyError};
pub use provider_error::ProviderError;
pub use recorded::recorded;
pub use request::{Reply, Request};
pub use rewrite::{
    MessageEdit, NamedAction, NamedMeter, NamedWindow, Registry, Rewrite, Rewritten, Scene,
};
pub use run::{Answer, Poll, Run, Schedule, drive, simulate};
pub use seen::{PartSight, Seen, SeenChange, SeenKind, SeenText, Sight, TextChange};
pub use stages::{
    Action, Boundary, Clear, Cut, Drop, Guard, Hook, Keep, Log, LogPiece, Mutates, Named, Place,
    Repair, Results, Stage, Summarize, Take, Unit, What,
};
pub use totals::{Row, Tally, Totals};
pub use transcript::{transcript, transcript_parts};

use crate::session::Session;
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use by_hand::Pins;
use estimator::{Predicted, Size};
use scene::Originals;
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
    /// Steps before which the program was started again, as a person marked them (indices, ascending).
    pub restarts: Arc<[usize]>,
    /// Errors of the provider, as a person placed them: at most one a step, by step.
    pub errors: Arc<[ProviderError]>,
    /// What a person marked by hand, set by [`Case::with_by_hand`].
    pub by_hand: Arc<ByHand>,
    /// Where files go that a policy writes.
    pub storage: Storage,
    /// What runs need to know about the session, worked out once.
    pub index: Arc<SessionIndex>,
    /// What the pins among the marks mean for calls and results.
    pins: Arc<Pins>,
    /// What runs worked out before and need again: the session on each meter, stand-ins of each size.
    derived: Arc<Derived>,
}

/// Results that depend on the case alone, kept because every run of every lane asks for them again.
#[derive(Debug, Default)]
struct Derived {
    columns: Memo<String, Arc<MeterColumn>>,
    sizes: Memo<(String, Tokens), Size>,
    predicted: Memo<(String, Tokens), Predicted>,
    originals: Originals,
}

impl Case {
    /// A case; works out the session's index.
    pub fn new(session: Arc<Session>, ledger: TokenLedger, windows: WindowPlan) -> Self {
        let index = Arc::new(SessionIndex::new(&session));
        let (ledger, windows) = (Arc::new(ledger), Arc::new(windows));
        Self {
            session,
            ledger,
            windows,
            restarts: Arc::default(),
            errors: Arc::default(),
            by_hand: Arc::default(),
            storage: Storage::default(),
            index,
            pins: Arc::default(),
            derived: Arc::default(),
        }
    }

    /// The same session with other windows (set by hand).
    #[must_use]
    pub fn with_windows(&self, windows: impl Into<Arc<WindowPlan>>) -> Self {
        Self {
            windows: windows.into(),
            ..self.clone()
        }
    }

    /// The same session, as if the program had been started again before these steps (indices).
    #[must_use]
    pub fn with_restarts(&self, restarts: &[usize]) -> Self {
        let mut restarts = restarts.to_vec();
        restarts.sort_unstable();
        restarts.dedup();
        Self {
            restarts: restarts.into(),
            ..self.clone()
        }
    }

    /// The same session, as if the provider had answered these calls with errors first. Of two at one step the last
    /// given stays.
    #[must_use]
    pub fn with_errors(&self, errors: &[ProviderError]) -> Self {
        let mut errors = errors.to_vec();
        errors.reverse();
        errors.sort_by_key(|error| error.step);
        errors.dedup_by_key(|error| error.step);
        Self {
            errors: errors.into(),
            ..self.clone()
        }
    }

    /// The same session with files of a policy going elsewhere.
    #[must_use]
    pub fn with_storage(&self, storage: Storage) -> Self {
        Self {
            storage,
            ..self.clone()
        }
    }

    /// What the provider says to the first try of a step's call, if that is an error.
    pub fn error_at(&self, step: usize) -> Option<&Arc<str>> {
        let at = self.errors.binary_search_by_key(&step, |error| error.step);
        at.ok().map(|at| &self.errors[at].text)
    }

    /// The recorded model of a step; empty if nobody knows.
    pub fn model_at(&self, step: usize) -> &str {
        let model = self.session.steps.get(step).and_then(|step| step.model);
        model.map_or("", |model| &self.session.models[model])
    }

    /// The session's messages as agents keep them.
    fn originals(&self) -> &Originals {
        &self.derived.originals
    }

    /// The same session counted another way.
    #[must_use]
    pub fn with_ledger(&self, ledger: impl Into<Arc<TokenLedger>>) -> Self {
        let ledger = ledger.into();
        let is_same = Arc::ptr_eq(&ledger, &self.ledger);
        let derived = if is_same {
            Arc::clone(&self.derived)
        } else {
            Arc::default()
        };
        Self {
            ledger,
            derived,
            ..self.clone()
        }
    }

    /// Returns the session on a meter.
    fn metered(&self, meter: &Meter) -> Arc<MeterColumn> {
        let columns = &self.derived.columns;
        columns.get_or_make(meter.key().as_str(), || Arc::new(meter.column(self)))
    }

    /// Returns a summary of the largest size that this prefix and cap allow.
    fn predicted(&self, prefix: &str, max: Tokens) -> Predicted {
        let make = || Predicted::new(prefix, self.predicted_size(prefix, max));
        let key = (prefix.to_owned(), max);
        self.derived.predicted.get_or_make(&key, make)
    }

    /// Returns the size of [`Case::predicted`] alone.
    fn predicted_size(&self, prefix: &str, max: Tokens) -> Size {
        let key = (prefix.to_owned(), max);
        let make = || Size::new(self, prefix, max);
        self.derived.sizes.get_or_make(&key, make)
    }
}
