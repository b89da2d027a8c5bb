//! The input of a run.
pub(super) mod budget;
pub(super) mod index;
pub(super) mod manual_edits;
pub(super) mod memo;
pub(super) mod meter_column;
pub(super) mod originals;
pub(super) mod predicted;
pub(super) mod provider_error;
pub(super) mod reported_usage;
pub(super) mod storage;

use crate::session::Session;
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use budget::{WindowPlan, WindowSource};
use index::{GrowingIndex, SessionIndex};
use manual_edits::{ManualEdits, Pins};
use memo::Memo;
use meter_column::MeterColumn;
use originals::Originals;
use predicted::Predicted;
use provider_error::ProviderError;
use reported_usage::ReportedUsage;
use std::sync::Arc;
use storage::Storage;

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
    /// Usage of each answered call, if the user gives it; `None` for an answer without usage.
    pub reported: Option<Arc<[Option<ReportedUsage>]>>,
    /// Manual edits, set by [`Case::with_manual_edits`].
    pub manual_edits: Arc<ManualEdits>,
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
    predicted: Memo<(String, Tokens), Predicted>,
    originals: Originals,
}

impl Case {
    /// Creates a case and computes the session's index.
    pub fn new(
        session: Arc<Session>,
        ledger: impl Into<Arc<TokenLedger>>,
        windows: impl Into<Arc<WindowPlan>>,
    ) -> Self {
        let index = Arc::new(SessionIndex::new(&session));
        let (ledger, windows) = (ledger.into(), windows.into());
        Self {
            session,
            ledger,
            windows,
            restarts: Arc::default(),
            errors: Arc::default(),
            reported: None,
            manual_edits: Arc::default(),
            storage: Storage::default(),
            index,
            pins: Arc::default(),
            derived: Arc::default(),
        }
    }

    /// Returns a case with another form of the session, its counts, and what the user set: windows, restarts, errors and
    /// manual edits. The messages must be the same in number.
    #[must_use]
    pub fn with_session(&self, session: Arc<Session>, ledger: impl Into<Arc<TokenLedger>>) -> Self {
        let case = Self::new(session, ledger, Arc::clone(&self.windows));
        Self {
            restarts: Arc::clone(&self.restarts),
            errors: Arc::clone(&self.errors),
            reported: self.reported.clone(),
            storage: self.storage.clone(),
            ..case.with_manual_edits((*self.manual_edits).clone())
        }
    }

    /// Returns the share of the model's context window that the windows are (see [`Session::window_share`]).
    pub fn window_share(&self) -> f64 {
        match self.windows.source {
            WindowSource::Recorded => self.session.window_share,
            WindowSource::User | WindowSource::ModelTable | WindowSource::Assumed => 1.0,
        }
    }

    /// Returns the same session with other windows.
    #[must_use]
    pub fn with_windows(&self, windows: impl Into<Arc<WindowPlan>>) -> Self {
        Self { windows: windows.into(), ..self.clone() }
    }

    /// Returns the same session with program restarts before these calls (indices).
    #[must_use]
    pub fn with_restarts(&self, restarts: &[usize]) -> Self {
        let mut restarts = restarts.to_vec();
        restarts.sort_unstable();
        restarts.dedup();
        Self { restarts: restarts.into(), ..self.clone() }
    }

    /// Returns the same session with provider errors at these calls. Errors of one call apply to its tries, in order.
    #[must_use]
    pub fn with_errors(&self, errors: &[ProviderError]) -> Self {
        let mut errors = errors.to_vec();
        errors.sort_by_key(|error| error.call);
        Self { errors: errors.into(), ..self.clone() }
    }

    /// Returns the same session with the usage of each call. These calls are answered, whatever their size: a replay
    /// does not calculate whether the provider accepts them.
    #[must_use]
    pub fn with_reported_usage(&self, reported: &[Option<ReportedUsage>]) -> Self {
        Self { reported: Some(reported.into()), ..self.clone() }
    }

    /// Returns the usage of a call that the user gave; the inner `None` is an answer without usage.
    pub fn reported_at(&self, call: usize) -> Option<Option<ReportedUsage>> {
        self.reported.as_ref()?.get(call).copied()
    }

    /// Returns the same session with another location for the policy's files.
    #[must_use]
    pub fn with_storage(&self, storage: Storage) -> Self {
        Self { storage, ..self.clone() }
    }

    /// Returns the provider's error at a try of a call, from 0, if there is one.
    pub fn error_at(&self, call: usize, nth_try: usize) -> Option<&Arc<str>> {
        let first = self.errors.partition_point(|error| error.call < call);
        let error = self.errors.get(first + nth_try)?;
        (error.call == call).then_some(&error.text)
    }

    /// Returns the recorded model of a call; empty if unknown.
    pub fn model_at(&self, call: usize) -> &str {
        let model = self.session.calls.get(call).and_then(|call| call.model);
        model.map_or("", |model| &self.session.models[model])
    }

    /// Returns the cached weights of the session on each meter, by the meter's key.
    pub(super) fn meter_columns(&self) -> &Memo<String, Arc<MeterColumn>> {
        &self.derived.columns
    }

    /// Adds messages and calls to the session. Existing ones must not change. Returns the weights on a meter so far, by its key.
    ///
    /// # Panics
    /// If somebody else holds a part of the case.
    pub(super) fn grow(
        &mut self,
        add: impl FnOnce(&mut Session),
        growing: &mut GrowingIndex,
        meter: &str,
    ) -> Option<Arc<MeterColumn>> {
        const SHARED: &str = "nobody else holds a part of a growing case";
        let session = Arc::get_mut(&mut self.session).expect(SHARED);
        add(session);
        Arc::get_mut(&mut self.ledger).expect(SHARED).grow(session);
        Arc::get_mut(&mut self.index).expect(SHARED).grow(session, growing);
        let derived = Arc::get_mut(&mut self.derived).expect(SHARED);
        derived.originals.grow(session.messages.len());
        derived.columns.take(meter)
    }

    /// Returns the session's messages in the shapes of agents.
    pub(super) fn originals(&self) -> &Originals {
        &self.derived.originals
    }

    /// Returns the same session with other token weights.
    #[must_use]
    pub fn with_ledger(&self, ledger: impl Into<Arc<TokenLedger>>) -> Self {
        let ledger = ledger.into();
        let is_same = Arc::ptr_eq(&ledger, &self.ledger);
        let derived = if is_same { Arc::clone(&self.derived) } else { Arc::default() };
        Self { ledger, derived, ..self.clone() }
    }

    /// Returns the longest summary that this prefix and cap allow.
    pub(super) fn predicted(&self, prefix: &str, max: Tokens) -> Predicted {
        let make = || Predicted::new(&self.ledger, prefix, max);
        let key = (prefix.to_owned(), max);
        self.derived.predicted.get_or_make(&key, make)
    }
}
