//! The insights of the session.

use crate::analysis::Trigger;
use crate::app::state::cost::compute::Costs;
use crate::app::state::insights::session::SessionInsights;
use crate::app::state::model::billing::BillingChoice;
use crate::app::state::model::derived::{Derived, DerivedResult, SlowFor, Update};
use crate::app::state::model::runs::replays::Runs;
use crate::units::Tokens;
use std::sync::Arc;

/// Inputs of the insights.
#[derive(Clone, Debug, PartialEq)]
pub struct InsightsKey {
    document: u64,
    counter: &'static str,
    window: Option<Tokens>,
    output_reserve: Tokens,
    trigger: Trigger,
    billing: BillingChoice,
}

impl DerivedResult for SessionInsights {
    type Key = InsightsKey;

    const THREAD: &'static str = "insights";
    const SLOW_FOR: SlowFor = SlowFor::BytesAbove(200_000);
    const IS_AWAITED: bool = true;
}

impl Derived {
    /// Returns the insights of the session, possibly for earlier settings.
    pub fn insights(&self) -> Option<&SessionInsights> {
        self.get()
    }
}

/// Updates the insights once the inputs stop changing, since a drag changes them in every frame.
pub(crate) fn update(update: &mut Update<'_>) {
    let derived = &*update.derived;
    let (Some(runs), Some(costs)) = (derived.shared_runs(), derived.shared::<Costs>()) else {
        return;
    };
    let is_moving = update.is_stale
        || derived.of::<Costs>(&derived.generation::<Runs>()).is_none()
        || update.is_dragging;
    if is_moving && derived.insights().is_some() {
        return;
    }
    let (runs, costs) = (Arc::clone(runs), Arc::clone(costs));
    let key = InsightsKey {
        document: runs.document,
        counter: runs.config.counter,
        window: runs.config.window,
        output_reserve: runs.output_reserve,
        trigger: runs.trigger.clone(),
        billing: costs.billing.clone(),
    };
    update.request(&key, move |_| SessionInsights::new(&runs, &costs));
}
