//! What the session and every lane cost at the chosen prices, whether compactions paid, and what each lane's run shows.

use crate::analysis::cost::{
    Audit, Bills, BreakEven, CallCost, Cost, Lifetime, audit, break_even, price_lane,
    price_recorded,
};
use crate::analysis::insight::{self, Insight, lane_insights};
use crate::app::billing::BillingChoice;
use crate::app::runs::{LaneRun, Runs};
use crate::engine::Case;
use crate::presets::prices::{Price, Prices};
use std::sync::Arc;

/// What all lanes of some runs cost.
#[derive(Debug)]
pub struct Costs {
    /// How calls are billed.
    pub billing: BillingChoice,
    /// How long the cache is taken to keep a prefix.
    pub lifetime: Lifetime,
    /// What really happened.
    pub recorded: LaneCost,
    /// The same by the model of the cache that lanes go by: what they are compared with.
    pub modelled: Cost,
    /// One a lane.
    pub lanes: Vec<Arc<LaneCost>>,
    /// What the cache did, where the file says.
    pub audit: Option<Audit>,
    /// The models of the session, each with its prices if they are known.
    pub models: Vec<ModelPrice>,
}

/// What one lane costs.
#[derive(Debug)]
pub struct LaneCost {
    /// Its price, call by call.
    pub cost: Cost,
    /// What became of its compactions.
    pub break_even: Vec<BreakEven>,
    /// What there is to know about its run, worst first.
    pub insights: Vec<Insight>,
    run: Arc<LaneRun>,
}

/// A model of the session with its prices.
#[derive(Clone, Debug)]
pub struct ModelPrice {
    /// Its name as recorded.
    pub model: String,
    /// What it costs, if that is known.
    pub price: Option<Price>,
}

impl Costs {
    /// Prices everything; lanes that are as before keep what was worked out.
    pub fn new(runs: &Runs, billing: BillingChoice, before: Option<&Self>) -> Self {
        let case = &runs.case;
        let prices = billing.prices();
        let bills = Bills::new(case, billing.at(&prices));
        // A run that is still the same one is a run over the same case.
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
                cost: price_recorded(case, &bills, &runs.recorded.outcome),
                break_even: break_even(&bills, &runs.recorded.outcome),
                insights: Vec::new(),
                run: Arc::clone(&runs.recorded),
            },
            modelled: price_lane(&bills, &runs.recorded.outcome),
            lanes: lanes.collect(),
            audit: audit(case, &bills, &runs.recorded.outcome),
            models: models(case, &billing, &prices),
            billing,
        }
    }

    /// What a lane costs, or what was recorded; none while that is worked out.
    pub fn of(&self, lane: Option<usize>) -> Option<&LaneCost> {
        match lane {
            Some(lane) => self.lanes.get(lane).map(Arc::as_ref),
            None => Some(&self.recorded),
        }
    }

    /// The model whose prices are not known, if there is one.
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
        Self {
            cost: price_lane(bills, &run.outcome),
            insights,
            break_even,
            run: Arc::clone(run),
        }
    }

    /// What the call of a step comes to; none where it was not billed.
    pub fn call(&self, step: usize) -> Option<&CallCost> {
        let at = self.cost.calls.binary_search_by_key(&step, |c| c.step);
        self.cost.calls.get(at.ok()?)
    }

    /// It speaks of this run.
    pub fn is_of(&self, run: &Arc<LaneRun>) -> bool {
        Arc::ptr_eq(&self.run, run)
    }
}

/// Every model that answered, at the price of the day of its first call; one without a name where none is recorded.
fn models(case: &Case, billing: &BillingChoice, prices: &Prices) -> Vec<ModelPrice> {
    let session = &case.session;
    let billing = billing.at(prices);
    let known = |name: &str, at| {
        let price = billing.prices.lookup(billing.model.unwrap_or(name), at);
        ModelPrice {
            model: name.to_owned(),
            price: price.cloned(),
        }
    };
    let mut first = vec![None; session.models.len()];
    for step in session.steps.iter().rev() {
        if let Some(model) = step.model {
            first[model] = Some(step.time);
        }
    }
    let named = session.models.iter().zip(first);
    // A model that answered no call costs nothing.
    let named = named.filter_map(|(name, first)| Some(known(name, first?)));
    let mut all: Vec<ModelPrice> = named.collect();
    if all.is_empty() {
        let at = session.steps.iter().find_map(|step| step.time);
        all.push(known("", at));
    }
    all
}
