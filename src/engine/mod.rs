//! Plays a session through a policy. The same code simulates and executes.
//!
//! A run returns a [`Request`] if it needs a summary and continues when a [`Reply`] is provided. The engine itself does
//! not wait, read, print, or use a clock. It is deterministic: the same inputs give the same events.

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

/// The input of a run: a session, its weights and its context windows.
#[derive(Clone, Debug)]
pub struct Case {
    /// The session.
    pub session: Arc<Session>,
    /// Token weights of the session.
    pub ledger: Arc<TokenLedger>,
    /// The context window at every call.
    pub windows: Arc<WindowPlan>,
    /// Calls before which the program was restarted, as the user marked them (indices, ascending).
    pub restarts: Arc<[usize]>,
    /// Provider errors that the user placed: at most one per call, by call.
    pub errors: Arc<[ProviderError]>,
    /// Manual edits, set by [`Case::with_by_hand`].
    pub by_hand: Arc<ByHand>,
    /// Location of the files that a policy writes.
    pub storage: Storage,
    /// Precomputed facts about the session.
    pub index: Arc<SessionIndex>,
    /// The calls and results that pinned messages need.
    pins: Arc<Pins>,
    /// Cached results of earlier runs: the session on each meter, stand-ins of each size.
    derived: Arc<Derived>,
}

/// Results that depend on the case alone, cached because every run of every lane uses them.
#[derive(Debug, Default)]
struct Derived {
    columns: Memo<String, Arc<MeterColumn>>,
    sizes: Memo<(String, Tokens), Size>,
    predicted: Memo<(String, Tokens), Predicted>,
    originals: Originals,
}

impl Case {
    /// Creates a case and computes the session's index.
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

    /// Returns the same session with other windows.
    #[must_use]
    pub fn with_windows(&self, windows: impl Into<Arc<WindowPlan>>) -> Self {
        Self {
            windows: windows.into(),
            ..self.clone()
        }
    }

    /// Returns the same session with program restarts before these calls (indices).
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

    /// Returns the same session with provider errors at these calls. If two errors name one call, the last one applies.
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

    /// Returns the same session with another location for the policy's files.
    #[must_use]
    pub fn with_storage(&self, storage: Storage) -> Self {
        Self {
            storage,
            ..self.clone()
        }
    }

    /// Returns the provider's error at the first try of a call, if there is one.
    pub fn error_at(&self, step: usize) -> Option<&Arc<str>> {
        let at = self.errors.binary_search_by_key(&step, |error| error.step);
        at.ok().map(|at| &self.errors[at].text)
    }

    /// Returns the recorded model of a call; empty if unknown.
    pub fn model_at(&self, step: usize) -> &str {
        let model = self.session.calls.get(step).and_then(|step| step.model);
        model.map_or("", |model| &self.session.models[model])
    }

    /// Returns the session's messages in the shapes of agents.
    fn originals(&self) -> &Originals {
        &self.derived.originals
    }

    /// Returns the same session with other token weights.
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
