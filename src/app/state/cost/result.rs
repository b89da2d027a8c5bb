//! The costs of all lanes, the order of the list of calls, and the difference of two calls.

use crate::app::state::cost::compute::Costs;
use crate::app::state::cost::difference::Differences;
use crate::app::state::cost::state::{CallSort, call_order};
use crate::app::state::messages::cumulative::CumulativeTokens;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::runs::replays::Runs;
use std::sync::Arc;

/// The focused lane's samples in the order of the list of calls.
#[derive(Debug)]
pub struct CallOrder(Vec<u32>);

/// Inputs of the order of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallsKey {
    runs: u64,
    costs: u64,
    cumulative: u64,
    lane: Option<usize>,
    sort: CallSort,
}

/// Inputs of the difference of two calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DifferencesKey {
    runs: u64,
    calls: [usize; 2],
}

impl DerivedResult for Costs {
    type Key = u64;

    const THREAD: &'static str = "costs";
    const SLOW_FOR: SlowFor = SlowFor::MessagesAbove(5_000);
    const IS_AWAITED: bool = true;
}

impl DerivedResult for CallOrder {
    type Key = CallsKey;

    const THREAD: &'static str = "calls";
    const SLOW_FOR: SlowFor = SlowFor::None;
}

impl DerivedResult for Differences {
    type Key = DifferencesKey;

    const THREAD: &'static str = "difference";
    const SLOW_FOR: SlowFor = SlowFor::MessagesAbove(5_000);
}

impl Derived {
    /// Returns the costs of all lanes, possibly of earlier runs.
    pub fn costs(&self) -> Option<&Costs> {
        self.get()
    }

    /// Returns the focused lane's samples in the order of the call list; none until it is computed.
    pub fn calls(&self) -> &[u32] {
        self.get::<CallOrder>().map_or(&[], |order| &order.0)
    }

    /// Returns the difference of the compared calls in every lane, possibly of earlier calls.
    pub fn differences(&self) -> Option<&Differences> {
        self.get()
    }
}

/// Computes the costs of the lanes.
pub(crate) fn update_costs(update: &mut Update<'_>) {
    let Some(runs) = update.derived.shared_runs().map(Arc::clone) else {
        return;
    };
    let key = update.derived.generation::<Runs>();
    update.request(&key, move |before: Option<Arc<Costs>>| {
        Costs::new(&runs, runs.config.billing.clone(), before.as_deref())
    });
}

/// Sorts the calls of the focused lane.
pub(crate) fn update_calls(update: &mut Update<'_>) {
    let derived = &*update.derived;
    let Some(runs) = derived.shared_runs().map(Arc::clone) else {
        return;
    };
    let costs = derived.shared::<Costs>().map(Arc::clone);
    let cumulative = derived.shared::<CumulativeTokens>().map(Arc::clone);
    let (lane, sort) = (update.selection.lane, update.view.cost().sort);
    let key = CallsKey {
        runs: derived.generation::<Runs>(),
        costs: derived.generation::<Costs>(),
        cumulative: derived.generation::<CumulativeTokens>(),
        lane,
        sort,
    };
    update.request(&key, move |_| {
        let run = lane.and_then(|lane| runs.lanes.get(lane)).unwrap_or(&runs.recorded);
        let cost = costs.as_ref().and_then(|costs| costs.of(lane));
        let heat = cumulative.map_or_else(Vec::new, |cumulative| {
            cumulative.heat.iter().map(|heat| heat.tokens).collect()
        });
        CallOrder(call_order(run, cost, &heat, sort))
    });
}

/// Compares the contexts of two calls in each lane.
pub(crate) fn update_difference(update: &mut Update<'_>) {
    let runs = update.derived.shared_runs().map(Arc::clone);
    let (Some(runs), Some(compared)) = (runs, update.selection.compared) else {
        return;
    };
    let calls = [compared, update.selection.call];
    let key = DifferencesKey { runs: update.derived.generation::<Runs>(), calls };
    update.request(&key, move |_| Differences::new(&runs, calls));
}
