//! The pieces of the context at the selected call, and the sources of the session.

use crate::analysis::attribution::{
    Attribution, ContextItem, GroupOverTime, Sources, context_items, groups_over_time,
};
use crate::analysis::cost::{Bills, price_recorded};
use crate::app::state::model::billing::BillingChoice;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::runs::replays::Runs;
use crate::engine::{recorded, simulate};
use crate::units::Tokens;
use std::sync::Arc;

/// The pieces of one context.
#[derive(Debug)]
pub struct ContextPieces {
    /// Index of the call.
    pub call: usize,
    /// Name of the lane.
    pub lane: String,
    /// The pieces in the order in which the model sees them.
    pub items: Vec<ContextItem>,
    /// Their tokens.
    pub total: Tokens,
}

/// Inputs of the pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PiecesKey {
    runs: u64,
    call: usize,
    lane: Option<usize>,
}

impl DerivedResult for ContextPieces {
    type Key = PiecesKey;

    const THREAD: &'static str = "context";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(200_000);
}

/// Inputs of the sources.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcesKey {
    document: u64,
    counter: &'static str,
    billing: BillingChoice,
}

impl DerivedResult for Attribution {
    type Key = SourcesKey;

    const THREAD: &'static str = "sources";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(200_000);
}

/// The groups of the recorded contexts, call by call.
#[derive(Debug)]
pub struct GroupsOverTime(pub Vec<GroupOverTime>);

/// Inputs of the groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupsKey {
    document: u64,
    counter: &'static str,
}

impl DerivedResult for GroupsOverTime {
    type Key = GroupsKey;

    const THREAD: &'static str = "groups";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(200_000);
}

impl Derived {
    /// Returns the groups of the recorded contexts, once requested.
    pub fn groups_over_time(&self) -> Option<&[GroupOverTime]> {
        self.get::<GroupsOverTime>().map(|groups| &groups.0[..])
    }

    /// Returns the pieces of the context at the selected call, once requested.
    pub fn context_pieces(&self) -> Option<&ContextPieces> {
        self.get()
    }

    /// Returns the sources of the session, also those that are switched off.
    pub fn sources(&self) -> Option<&Attribution> {
        self.get()
    }
}

/// Divides the context of the focused lane at the selected call.
pub(crate) fn update_pieces(update: &mut Update<'_>) {
    let Some(runs) = update.derived.shared_runs().map(Arc::clone) else {
        return;
    };
    let (call, lane) = (update.selection.call, update.selection.lane);
    let key = PiecesKey { runs: update.derived.generation::<Runs>(), call, lane };
    update.request(&key, move |_| {
        let of_lane = lane.and_then(|at| Some((runs.lanes.get(at)?, runs.labels.get(at)?)));
        let (outcome, name) = match of_lane {
            Some((lane, label)) => {
                (simulate(&runs.case, &lane.policy, &lane.knobs, Some(call)), label.clone())
            }
            None => (recorded(&runs.case, runs.output_reserve, Some(call)), "recorded".to_owned()),
        };
        let items = context_items(&runs.case, &Sources::new(&runs.case), &outcome.context);
        let total = items.iter().map(|item| item.tokens).sum();
        ContextPieces { call, lane: name, items, total }
    });
}

/// Divides the recorded contexts of all calls.
pub(crate) fn update_groups(update: &mut Update<'_>) {
    let Some(runs) = update.derived.shared_runs().map(Arc::clone) else {
        return;
    };
    let key = GroupsKey { document: runs.document, counter: runs.config.counter };
    let case = update.document.loaded.case.with_ledger(Arc::clone(&runs.counted));
    update.request(&key, move |_| GroupsOverTime(groups_over_time(&case, &Sources::new(&case))));
}

/// Computes the sources of the session as it was recorded.
pub(crate) fn update_sources(update: &mut Update<'_>) {
    let Some(runs) = update.derived.shared_runs().map(Arc::clone) else {
        return;
    };
    let billing = runs.config.billing.clone();
    let key = SourcesKey { document: runs.document, counter: runs.config.counter, billing };
    let case = update.document.loaded.case.with_ledger(Arc::clone(&runs.counted));
    update.request(&key, move |_| {
        let billing = &runs.config.billing;
        let prices = billing.prices();
        let bills = Bills::new(&case, billing.at(&prices));
        let recorded = recorded(&case, runs.output_reserve, None);
        Attribution::new(&case, &recorded, &bills, &price_recorded(&bills, &recorded))
    });
}
