//! The token counts of the selected tokenizer, and the replays of all lanes.

use crate::app::state::model::config::Config;
use crate::app::state::model::derived::{DIM_AFTER, Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::document::Document;
use crate::app::state::model::runs::replays::{Runs, run_all};
use crate::tokens::{self, Counter, Progress, TokenLedger};
use std::sync::Arc;

/// The document and the tokenizer that a result depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterKey {
    /// Id of the document.
    pub document: u64,
    /// Name of the tokenizer.
    pub counter: &'static str,
}

/// Inputs of the replays.
#[derive(Clone, Debug, PartialEq)]
pub struct RunsKey {
    document: u64,
    config: Config,
    ledgers: u64,
}

/// The token counts of a tokenizer other than the default one.
impl DerivedResult for TokenLedger {
    type Key = CounterKey;

    const THREAD: &'static str = "count";
    const SLOW_FOR: SlowFor = SlowFor::All;
}

/// The replays of all lanes, possibly of an earlier config. A lane keeps its outcome while its policy, settings and case
/// are unchanged.
impl DerivedResult for Runs {
    type Key = RunsKey;

    const THREAD: &'static str = "replay";
    const SLOW_FOR: SlowFor = SlowFor::MessagesAbove(20_000);
}

impl Derived {
    /// Returns the replays of all lanes, possibly of an earlier config.
    pub fn runs(&self) -> Option<&Runs> {
        self.get()
    }

    /// Returns the latest runs, to share with a thread.
    pub fn shared_runs(&self) -> Option<&Arc<Runs>> {
        self.shared()
    }

    /// Returns the latest runs if they are of this document, to share with a thread.
    pub fn runs_of(&self, document: &Document) -> Option<Arc<Runs>> {
        self.shared_runs().filter(|runs| runs.document == document.id).map(Arc::clone)
    }

    /// Returns the number of replays so far.
    pub fn revision(&self) -> u64 {
        self.generation::<Runs>()
    }

    /// Returns the token counts that the latest runs use.
    pub fn ledger_in_use(&self, document: &Document) -> Arc<TokenLedger> {
        Arc::clone(self.runs().map_or(&document.loaded.case.ledger, |runs| &runs.case.ledger))
    }
}

/// Replays the lanes whose inputs changed, and notes whether the replays are outdated.
pub(crate) fn update(update: &mut Update<'_>) {
    if let Some(ledger) = ledger(update) {
        let (document, config) = (Arc::clone(update.document), update.config.clone());
        let ledgers = update.derived.generation::<TokenLedger>();
        let key = RunsKey { document: document.id, config: config.clone(), ledgers };
        let policies = config.lanes.iter().map(|lane| update.policies.get(&lane.policy)).collect();
        update.request(&key, move |before: Option<Arc<Runs>>| {
            let before = before.filter(|runs| runs.document == document.id);
            run_all(&document, config, ledger, policies, before.as_deref())
        });
    }
    let runs = update.derived.runs();
    update.is_stale = runs.is_some_and(|runs| runs.config != *update.config);
    update.derived.mark_stale(update.is_stale);
    if update.is_stale {
        update.repaint.after(DIM_AFTER);
    }
}

/// Returns the ledger of the tokenizer: the one of the document, or one counted in the background; `None` until it is
/// ready.
fn ledger(update: &mut Update<'_>) -> Option<Arc<TokenLedger>> {
    let (loaded, counter) = (&update.document.loaded.case, update.config.counter);
    if loaded.ledger.counter.name == counter {
        return Some(Arc::clone(&loaded.ledger));
    }
    let key = CounterKey { document: update.document.id, counter };
    let (session, fallback) = (Arc::clone(&loaded.session), Arc::clone(&loaded.ledger));
    let counter = counter_named(counter);
    update.request(&key, move |_| {
        // Cannot be cancelled: this is the only reference to its progress.
        TokenLedger::count(&session, counter, &Progress::default())
            .unwrap_or_else(|_cancelled| fallback.recount(&session))
    });
    update.derived.of(&key).map(Arc::clone)
}

fn counter_named(name: &str) -> &'static Counter {
    tokens::by_name(name).unwrap_or_else(tokens::default_counter)
}
