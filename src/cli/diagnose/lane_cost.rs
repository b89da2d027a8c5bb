//! One lane with its cost.

use crate::analysis::cost::{Bills, BreakEven, Cost, break_even, price_lane, price_recorded};
use crate::engine::Case;
use crate::report::Played;

/// One lane with its cost.
pub(super) struct LaneCost<'a> {
    pub(super) played: &'a Played,
    pub(super) cost: Cost,
    pub(super) break_even: Vec<BreakEven>,
}

impl<'a> LaneCost<'a> {
    /// Prices the calls of a lane. Recorded cache counts apply to the recorded run only.
    pub(super) fn new(case: &Case, bills: &Bills<'_>, played: &'a Played) -> Self {
        let cost = if played.policy.is_none() {
            price_recorded(case, bills, &played.outcome)
        } else {
            price_lane(bills, &played.outcome)
        };
        Self {
            cost,
            break_even: break_even(bills, &played.outcome),
            played,
        }
    }
}
