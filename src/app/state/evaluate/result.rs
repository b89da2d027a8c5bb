//! The losses of all lanes, expected re-reads, and facts that each lane kept.

use crate::analysis::facts::Facts;
use crate::app::state::evaluate::facts::Evaluation;
use crate::app::state::evaluate::losses::Losses;
use crate::app::state::evaluate::session::{SessionIndex, SessionRereads};
use crate::app::state::evaluate::state::EvaluatePage;
use crate::app::state::model::billing::BillingChoice;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::model::runs::result::CounterKey;
use crate::app::state::model::tab::Tab;
use std::sync::Arc;

/// Inputs of expected re-reads.
#[derive(Clone, Debug, PartialEq)]
pub struct RereadsKey {
    counted: CounterKey,
    billing: BillingChoice,
}

/// Inputs of the losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossesKey {
    runs: u64,
    rereads: u64,
}

/// Inputs of the kept facts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvaluationKey {
    runs: u64,
    call: Option<usize>,
}

impl DerivedResult for SessionIndex {
    type Key = u64;

    const THREAD: &'static str = "index";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(100_000);
}

impl DerivedResult for SessionRereads {
    type Key = RereadsKey;

    const THREAD: &'static str = "re-reads";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(100_000);
    const IS_AWAITED: bool = true;
}

impl DerivedResult for Losses {
    type Key = LossesKey;

    const THREAD: &'static str = "losses";
    const SLOW_FOR: SlowFor = SlowFor::MessagesAbove(500);
    const IS_AWAITED: bool = true;
}

impl DerivedResult for Facts {
    type Key = u64;

    const THREAD: &'static str = "facts";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(100_000);
}

impl DerivedResult for Evaluation {
    type Key = EvaluationKey;

    const THREAD: &'static str = "evaluation";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(100_000);
}

impl Derived {
    /// Returns the indices of the session's names and files, to share with a thread.
    pub fn shared_index(&self) -> Option<&Arc<SessionIndex>> {
        self.shared()
    }

    /// Returns the measure of expected re-reads, and its curves by kept content.
    pub fn rereads(&self) -> Option<&SessionRereads> {
        self.get()
    }

    /// Returns the losses of all lanes, possibly of earlier runs.
    pub fn losses(&self) -> Option<&Losses> {
        self.get()
    }

    /// Returns the facts of the session, once requested.
    pub fn facts(&self) -> Option<&Facts> {
        self.get()
    }

    /// Returns the facts that each lane kept, once requested, possibly of earlier runs.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        self.get()
    }
}

/// Indexes the session's names and files, prices re-reads, and computes the losses of each lane.
pub(crate) fn update_losses(update: &mut Update<'_>) {
    let Some(runs) = update.derived.runs_of(update.document) else {
        return;
    };
    let (case, document) = (runs.case.clone(), update.document.id);
    update.request(&document, move |_| SessionIndex::new(&case));
    let Some(index) = update.derived.of::<SessionIndex>(&document).map(Arc::clone) else {
        return;
    };
    let key = RereadsKey {
        counted: CounterKey { document, counter: runs.config.counter },
        billing: runs.config.billing.clone(),
    };
    let priced = Arc::clone(&runs);
    update.request(&key, move |_| SessionRereads::new(&priced, index));
    let Some(rereads) = update.derived.of::<SessionRereads>(&key).map(Arc::clone) else {
        return;
    };
    let key = LossesKey {
        runs: update.derived.generation::<Runs>(),
        rereads: update.derived.generation::<SessionRereads>(),
    };
    update.request(&key, move |before: Option<Arc<Losses>>| {
        Losses::new(&runs, &rereads, before.as_deref())
    });
}

/// Finds the facts and follows them through the lanes while they are shown.
pub(crate) fn update_evaluation(update: &mut Update<'_>) {
    let view = update.view.evaluate();
    let is_shown = update.view.tab == Tab::EVALUATE && view.page == EvaluatePage::Facts;
    let runs = update.derived.runs_of(update.document);
    let Some(runs) = runs.filter(|_| is_shown) else {
        return;
    };
    let (session, document) = (Arc::clone(&runs.case.session), update.document.id);
    update.request(&document, move |_| Facts::new(&session));
    let Some(facts) = update.derived.of::<Facts>(&document).map(Arc::clone) else {
        return;
    };
    let selected = update.selection.call;
    let is_call = selected < runs.case.session.calls.len();
    let call = (view.at_selected_call && is_call).then_some(selected);
    let key = EvaluationKey { runs: update.derived.generation::<Runs>(), call };
    update.request(&key, move |before: Option<Arc<Evaluation>>| {
        Evaluation::new(&runs, &facts, call, before.as_deref())
    });
}
