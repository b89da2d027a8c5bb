//! State of the tab Cost (page, filter and order), and the rows that its pages list. Draws nothing.

use crate::analysis::cost::{Audit, AuditedCall, BreakEven, Cause, Cost, CostSource};
use crate::app::state::cost::compute::{Costs, LaneCost};
use crate::app::state::model::runs::replays::LaneRun;
use crate::app::state::model::selection::CallRange;
use crate::app::state::model::view::View;
use crate::app::state::wording;
use crate::units::Tokens;

/// State of the tab Cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostView {
    /// Selected page.
    pub page: CostPage,
    /// Cause of the listed cache misses; `None` for all.
    pub cause: Option<Cause>,
    /// Order of the calls.
    pub sort: CallSort,
}

/// Pages of the tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CostPage {
    /// The recorded lane and all others.
    #[default]
    Lanes,
    /// The cache model against the recorded cache counts.
    Cache,
    /// Savings and cost of compactions.
    Compactions,
    /// The focused lane call by call: growth and cost.
    Calls,
    /// The contexts of two calls.
    Difference,
}

impl CostPage {
    /// All pages, in order.
    pub const ALL: [Self; 5] =
        [Self::Lanes, Self::Cache, Self::Compactions, Self::Calls, Self::Difference];

    /// Returns the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Cache => "cache",
            Self::Compactions => "compactions",
            Self::Calls => "calls",
            Self::Difference => "two calls",
        }
    }

    /// Returns the hover text.
    pub fn help(self) -> &'static str {
        match self {
            Self::Lanes => "Cost of the recorded session and of every lane",
            Self::Cache => "Modelled and recorded cache reads by call",
            Self::Compactions => "After how many calls each compaction pays, and whether it did",
            Self::Calls => "Growth and cost of each call of the focused lane",
            Self::Difference => {
                "Difference of the contexts of two calls, and the prefix that a cache can read"
            }
        }
    }
}

/// The sort key of the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallKey {
    /// Number of the call.
    #[default]
    Call,
    /// Size of the context.
    Context,
    /// Growth since the previous call.
    Growth,
    /// Cumulative tokens of the messages that were added at the call.
    Cumulative,
    /// Uncached input.
    Uncached,
    /// Price.
    Cost,
}

/// An order of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSort {
    /// Sort key.
    pub key: CallKey,
    /// Largest first.
    pub is_descending: bool,
}

impl CallSort {
    /// Returns the order after a click on a column header: reversed, or descending by a new column.
    #[must_use]
    pub fn clicked(self, key: CallKey) -> Self {
        Self {
            key,
            is_descending: if self.key == key { !self.is_descending } else { key != CallKey::Call },
        }
    }
}

/// Returns the growth in tokens from the previous call to this sample; negative if the context shrank.
pub fn growth(run: &LaneRun, at: usize) -> f64 {
    let samples = &run.outcome.samples;
    let tokens = |at: usize| samples.get(at).map_or(0.0, |sample| sample.tokens.as_f64());
    tokens(at) - at.checked_sub(1).map_or(0.0, tokens)
}

/// Returns the indices of a lane's samples in this order. `cumulative` contains the cumulative tokens by call.
pub fn call_order(
    run: &LaneRun,
    cost: Option<&LaneCost>,
    cumulative: &[Tokens],
    sort: CallSort,
) -> Vec<u32> {
    let samples = &run.outcome.samples;
    let call = |at: usize| cost?.call(samples[at].call);
    // Unknown values sort before zero.
    let key = |at: usize| -> f64 {
        match sort.key {
            CallKey::Call => at as f64,
            CallKey::Context => samples[at].tokens.as_f64(),
            CallKey::Growth => growth(run, at),
            CallKey::Cumulative => cumulative.get(samples[at].call).map_or(-1.0, |t| t.as_f64()),
            CallKey::Uncached => call(at).map_or(-1.0, |c| (c.written + c.uncached).as_f64()),
            CallKey::Cost => call(at).and_then(|c| c.usd).map_or(-1.0, |usd| usd.0),
        }
    };
    let mut order: Vec<(f64, u32)> = (0..samples.len()).map(|at| (key(at), at as u32)).collect();
    // The sort is stable: equal entries keep the session order in both directions.
    order.sort_by(
        |(a, _), (b, _)| {
            if sort.is_descending { b.total_cmp(a) } else { a.total_cmp(b) }
        },
    );
    order.into_iter().map(|(_, at)| at).collect()
}

/// Returns the cost of these calls as text, with `≈` if it is modelled.
pub fn calls_cost_text(cost: &Cost, calls: CallRange) -> Option<String> {
    let source = cost.source_of_calls();
    calls.cost(cost).map(|usd| wording::cost(source, usd))
}

/// Returns the calls with a cache miss; `cause` and `calls` limit them.
pub fn misses(audit: &Audit, cause: Option<Cause>, calls: Option<CallRange>) -> Vec<&AuditedCall> {
    let is_listed = |call: &&AuditedCall| {
        let is_missed = match cause {
            Some(wanted) => call.cause == Some(wanted),
            None => call.cause.is_some(),
        };
        is_missed && calls.is_none_or(|calls| calls.contains(call.index))
    };
    audit.calls.iter().filter(is_listed).collect()
}

/// A compaction of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCompaction {
    /// Index of the lane; `None` for the recorded one.
    pub lane: Option<usize>,
    /// Index in the compactions of the lane.
    pub index: usize,
}

impl LaneCompaction {
    /// Returns its break-even.
    pub fn break_even(self, costs: &Costs) -> Option<&BreakEven> {
        costs.of(self.lane)?.break_even.get(self.index)
    }
}

/// Returns the compactions of all lanes in call order.
pub fn compactions(costs: &Costs) -> Vec<LaneCompaction> {
    let lanes = (0..costs.lanes.len()).map(Some);
    let all = std::iter::once(None).chain(lanes);
    let mut rows: Vec<_> = all
        .filter_map(|lane| Some((lane, costs.of(lane)?)))
        .flat_map(|(lane, cost)| {
            let calls = cost.break_even.iter().enumerate();
            calls.map(move |(idx, even)| (even.call, lane, idx))
        })
        .collect();
    rows.sort_unstable();
    let rows = rows.into_iter();
    rows.map(|(_, lane, index)| LaneCompaction { lane, index }).collect()
}

/// A row of the table of lanes.
#[derive(Clone, Copy, Debug)]
pub struct CostRow<'a> {
    /// Index of the lane; `None` for the recorded run.
    pub lane: Option<usize>,
    /// Its cost.
    pub cost: &'a Cost,
    /// The recorded run by the cache model, from which the other lanes differ. The row before it has the recorded cost.
    pub is_base: bool,
}

/// Returns the rows of the table: the recorded run, its modelled cost if that differs from the recorded one in kind, and
/// the lanes.
pub fn lanes(costs: &Costs) -> Vec<CostRow<'_>> {
    let row = |lane, cost| CostRow { lane, cost, is_base: false };
    let recorded = &costs.recorded.cost;
    let base = (recorded.source == CostSource::Recorded)
        .then_some(CostRow { is_base: true, ..row(None, &costs.modelled) });
    let lanes = costs.lanes.iter().enumerate();
    let lanes = lanes.map(|(idx, lane)| row(Some(idx), &lane.cost));
    let recorded = std::iter::once(row(None, recorded));
    recorded.chain(base).chain(lanes).collect()
}

impl View {
    /// Returns the view settings of the tab Cost.
    pub fn cost(&self) -> CostView {
        *self.get()
    }

    /// Returns the view settings of the tab Cost, to change them.
    pub fn cost_mut(&mut self) -> &mut CostView {
        self.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_click_on_a_head_sorts_descending_and_the_second_ascending() {
        let sort = CallSort::default().clicked(CallKey::Cost);
        assert!(sort.is_descending && sort.key == CallKey::Cost);
        assert!(!sort.clicked(CallKey::Cost).is_descending);
        assert_eq!(sort.clicked(CallKey::Call), CallSort::default());
    }
}
