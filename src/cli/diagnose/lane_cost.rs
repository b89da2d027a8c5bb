//! One lane with its cost.

use crate::analysis::cost::{
    Bills, BreakEven, Cost, CostSource, break_even, price_lane, price_recorded,
};
use crate::report::Played;

/// One lane with its cost.
pub(super) struct LaneCost<'a> {
    pub(super) played: &'a Played,
    pub(super) cost: Cost,
    /// For a cost by recorded cache counts: the cost with the cache model of the other lanes, to compare with them.
    pub(super) modelled: Option<Cost>,
    pub(super) break_even: Vec<BreakEven>,
}

impl<'a> LaneCost<'a> {
    /// Prices the calls of a lane. Recorded cache counts apply to the recorded run only.
    pub(super) fn new(bills: &Bills<'_>, played: &'a Played) -> Self {
        let cost = if played.policy.is_none() {
            price_recorded(bills, &played.outcome)
        } else {
            price_lane(bills, &played.outcome)
        };
        let is_recorded = cost.source != CostSource::Modelled;
        Self {
            modelled: is_recorded.then(|| price_lane(bills, &played.outcome)),
            cost,
            break_even: break_even(bills, &played.outcome),
            played,
        }
    }

    /// Removes the costs of single calls, which text output does not need.
    pub(super) fn drop_calls(&mut self) {
        self.cost.drop_calls();
        self.modelled.iter_mut().for_each(Cost::drop_calls);
    }
}
