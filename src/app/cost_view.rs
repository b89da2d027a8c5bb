//! What the tab Cost shows and in what order, without a window.

use crate::analysis::cost::{Audit, AuditedCall, Cause, Cost};
use crate::app::costs::{Costs, LaneCost};
use crate::app::runs::LaneRun;
use crate::units::Tokens;

/// What the tab Cost shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostView {
    /// Which of its pages.
    pub page: CostPage,
    /// The only cause whose misses are listed; all if none.
    pub cause: Option<Cause>,
    /// Order of the calls.
    pub sort: CallSort,
}

/// Pages of the tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CostPage {
    /// What was recorded beside every lane.
    #[default]
    Lanes,
    /// The cache as modelled against the file's own counts.
    Cache,
    /// Whether compactions paid.
    Compactions,
    /// The focused lane call by call: what it grew by, and what it cost.
    Calls,
}

impl CostPage {
    /// All pages, in order.
    pub const ALL: [Self; 4] = [Self::Lanes, Self::Cache, Self::Compactions, Self::Calls];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Cache => "cache",
            Self::Compactions => "compactions",
            Self::Calls => "calls",
        }
    }

    /// What it shows, as a phrase.
    pub fn help(self) -> &'static str {
        match self {
            Self::Lanes => "What was recorded and what every lane would have cost",
            Self::Cache => "What the cache should have served against what it did",
            Self::Compactions => "After how many calls each compaction pays, and whether it did",
            Self::Calls => "What each call of the focused lane added and cost",
        }
    }
}

/// What calls are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallKey {
    /// Number.
    #[default]
    Call,
    /// Size of the context.
    Context,
    /// What it grew by.
    Grown,
    /// What came in there and stayed.
    Carried,
    /// Prompt that no cache served.
    Fresh,
    /// Price.
    Cost,
}

/// An order of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSort {
    /// By what.
    pub key: CallKey,
    /// Largest first.
    pub is_descending: bool,
}

impl CallSort {
    /// What a click on a head makes of this order: the other way round, or that column with its largest first.
    #[must_use]
    pub fn clicked(self, key: CallKey) -> Self {
        Self {
            key,
            is_descending: if self.key == key {
                !self.is_descending
            } else {
                key != CallKey::Call
            },
        }
    }
}

/// Tokens by which the call of a sample's index was larger than the one before; negative where it was smaller.
pub fn grown(run: &LaneRun, at: usize) -> f64 {
    let samples = &run.outcome.samples;
    let tokens = |at: usize| samples.get(at).map_or(0.0, |sample| sample.tokens.as_f64());
    tokens(at) - at.checked_sub(1).map_or(0.0, tokens)
}

/// Indices of a lane's samples in an order. `heat` is what came in at each step and stayed.
pub fn call_order(
    run: &LaneRun,
    cost: Option<&LaneCost>,
    heat: &[Tokens],
    sort: CallSort,
) -> Vec<u32> {
    let samples = &run.outcome.samples;
    let call = |at: usize| cost?.call(samples[at].step);
    // What is not known comes before nothing.
    let key = |at: usize| -> f64 {
        match sort.key {
            CallKey::Call => at as f64,
            CallKey::Context => samples[at].tokens.as_f64(),
            CallKey::Grown => grown(run, at),
            CallKey::Carried => heat.get(samples[at].step).map_or(-1.0, |t| t.as_f64()),
            CallKey::Fresh => call(at).map_or(-1.0, |c| (c.written + c.uncached).as_f64()),
            CallKey::Cost => call(at).and_then(|c| c.usd).map_or(-1.0, |usd| usd.0),
        }
    };
    let mut order: Vec<(f64, u32)> = (0..samples.len()).map(|at| (key(at), at as u32)).collect();
    // Stable: equals stay in the order of the session, whichever way round.
    order.sort_by(|(a, _), (b, _)| {
        if sort.is_descending {
            b.total_cmp(a)
        } else {
            a.total_cmp(b)
        }
    });
    order.into_iter().map(|(_, at)| at).collect()
}

/// The calls that sent again what the cache should have served, of one cause or of all.
pub fn misses(audit: &Audit, cause: Option<Cause>) -> Vec<&AuditedCall> {
    let is_listed = |call: &&AuditedCall| match cause {
        Some(wanted) => call.cause == Some(wanted),
        None => call.cause.is_some(),
    };
    audit.calls.iter().filter(is_listed).collect()
}

/// All compactions: the lane (none for what was recorded) and the index among its own, in the order of calls.
pub fn compactions(costs: &Costs) -> Vec<(Option<usize>, usize)> {
    let lanes = (0..costs.lanes.len()).map(Some);
    let all = std::iter::once(None).chain(lanes);
    let mut rows: Vec<_> = all
        .filter_map(|lane| Some((lane, costs.of(lane)?)))
        .flat_map(|(lane, cost)| {
            let steps = cost.break_even.iter().enumerate();
            steps.map(move |(idx, even)| (even.step, lane, idx))
        })
        .collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, lane, idx)| (lane, idx)).collect()
}

/// All lanes that are compared in the table, what was recorded first, with what each costs.
pub fn lanes(costs: &Costs) -> Vec<(Option<usize>, &Cost)> {
    let recorded = std::iter::once((None, &costs.recorded.cost));
    let lanes = costs.lanes.iter().enumerate();
    recorded
        .chain(lanes.map(|(idx, lane)| (Some(idx), &lane.cost)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_on_a_head_shows_the_largest_first_and_a_second_one_the_smallest() {
        let sort = CallSort::default().clicked(CallKey::Cost);
        assert!(sort.is_descending && sort.key == CallKey::Cost);
        assert!(!sort.clicked(CallKey::Cost).is_descending);
        assert_eq!(sort.clicked(CallKey::Call), CallSort::default());
    }
}
