//! Costs of the session and every lane at the chosen prices, savings of compactions, and insights of each lane.

use crate::analysis::cost::{
    Audit, Billing, Bills, BreakEven, CallCost, Cost, Lifetime, audit, break_even, price_lane,
    price_recorded,
};
use crate::analysis::insight;
use crate::analysis::insight::{Insight, lane_insights};
use crate::app::state::model::billing::BillingChoice;
use crate::app::state::model::runs::replays::{LaneRun, Runs};
use crate::engine::Case;
use crate::presets::prices::Price;
use crate::session::Session;
use std::sync::Arc;

/// The costs of all lanes.
#[derive(Debug)]
pub struct Costs {
    /// The billing settings.
    pub billing: BillingChoice,
    /// Assumed lifetime of a cached prefix.
    pub lifetime: Lifetime,
    /// Cost of the recorded lane.
    pub recorded: LaneCost,
    /// Cost of the recorded lane by the cache model, as the reference for the other lanes.
    pub modelled: Cost,
    /// One entry per lane.
    pub lanes: Vec<Arc<LaneCost>>,
    /// Recorded cache behavior, if the file has it.
    pub audit: Option<Audit>,
    /// The models that have calls, with their prices.
    pub models: Vec<ModelPrice>,
}

/// The costs of one lane.
#[derive(Debug)]
pub struct LaneCost {
    /// Its cost by call.
    pub cost: Cost,
    /// Break-even of its compactions.
    pub break_even: Vec<BreakEven>,
    /// Insights of its run, worst first.
    pub insights: Vec<Insight>,
    run: Arc<LaneRun>,
}

/// A model of the session with its prices.
#[derive(Clone, Debug)]
pub struct ModelPrice {
    /// Name as recorded; empty if the file names no model.
    pub model: String,
    /// Its prices, if known.
    pub price: Option<Price>,
}

impl Costs {
    /// Prices all lanes; unchanged lanes keep their results.
    pub fn new(runs: &Runs, billing: BillingChoice, before: Option<&Self>) -> Self {
        let case = &runs.case;
        let prices = billing.prices();
        let bills = Bills::new(case, billing.at(&prices));
        // An identical run implies an identical case.
        let before = before.filter(|b| b.billing == billing);
        let kept = |run: &Arc<LaneRun>| {
            let lanes = before?.lanes.iter();
            let same = lanes.into_iter().find(|lane| Arc::ptr_eq(&lane.run, run));
            same.map(Arc::clone)
        };
        let lanes = runs.lanes.iter().zip(&runs.labels);
        let lanes = lanes.map(|(run, label)| {
            kept(run).unwrap_or_else(|| Arc::new(LaneCost::of_lane(case, &bills, run, label)))
        });
        Self {
            lifetime: bills.lifetime,
            recorded: LaneCost {
                cost: price_recorded(&bills, &runs.recorded.outcome),
                break_even: break_even(&bills, &runs.recorded.outcome),
                insights: Vec::new(),
                run: Arc::clone(&runs.recorded),
            },
            modelled: price_lane(&bills, &runs.recorded.outcome),
            lanes: lanes.collect(),
            audit: audit(case, &bills, &runs.recorded.outcome),
            models: models(&case.session, billing.at(&prices)),
            billing,
        }
    }

    /// Returns the costs of a lane, or of the recorded one; `None` until they are ready.
    pub fn of(&self, lane: Option<usize>) -> Option<&LaneCost> {
        match lane {
            Some(lane) => self.lanes.get(lane).map(Arc::as_ref),
            None => Some(&self.recorded),
        }
    }

    /// Returns a model with unknown prices, if there is one.
    pub fn unknown(&self) -> Option<&str> {
        let unknown = self.models.iter().find(|model| model.price.is_none());
        unknown.map(|model| &*model.model)
    }
}

impl LaneCost {
    fn of_lane(case: &Case, bills: &Bills<'_>, run: &Arc<LaneRun>, label: &str) -> Self {
        let break_even = break_even(bills, &run.outcome);
        let lane = insight::Lane {
            name: label,
            policy: &run.policy,
            knobs: &run.knobs,
            outcome: &run.outcome,
            findings: &run.findings,
            break_even: &break_even,
        };
        let insights = lane_insights(case, lane);
        Self { cost: price_lane(bills, &run.outcome), insights, break_even, run: Arc::clone(run) }
    }

    /// Returns the cost of a call; `None` if it was not billed.
    pub fn call(&self, call: usize) -> Option<&CallCost> {
        let at = self.cost.calls.binary_search_by_key(&call, |call| call.index);
        self.cost.calls.get(at.ok()?)
    }

    /// Returns whether the costs belong to this run.
    pub fn is_of(&self, run: &Arc<LaneRun>) -> bool {
        Arc::ptr_eq(&self.run, run)
    }
}

/// Returns every model that has calls, with its price. Has one unnamed model if none is recorded.
fn models(session: &Session, billing: Billing<'_>) -> Vec<ModelPrice> {
    let mut called: Vec<Option<usize>> = (0..session.models.len()).map(Some).collect();
    called.retain(|model| session.calls.iter().any(|call| call.model == *model));
    if called.is_empty() {
        called.push(None);
    }
    let priced = called.into_iter().map(|model| ModelPrice {
        model: model.map_or_else(String::new, |model| session.models[model].clone()),
        price: billing.price(session, model).cloned(),
    });
    priced.collect()
}
