//! References at risk of every lane, with the noise floor of the recorded lane.

use crate::analysis::cost::Bills;
use crate::analysis::insight::{Insight, loss_insights};
use crate::analysis::loss::{
    CheapestRun, Loss, Names, ReuseCurves, hindsight, references_at_risk, reuse_distances, saved,
    standing,
};
use crate::app::cost::billing::BillingChoice;
use crate::app::runs::replays::{LaneRun, Runs};
use crate::app::settings_panel::{knobs, policies};
use crate::engine::{Case, Outcome, simulate};
use crate::units::Share;
use rayon::prelude::*;
use std::sync::Arc;

/// Reuse distances of the agent's references, which depend on no setting, and the bounds of a lossless policy, which depend
/// on the context window and the output reserve.
#[derive(Debug)]
pub struct ReuseDistances {
    /// Distances of all references.
    pub curves: ReuseCurves,
    /// Bounds of a lossless policy.
    pub bounds: LosslessBounds,
}

/// The lanes between which a lossless policy lies.
#[derive(Debug)]
pub struct LosslessBounds {
    /// Lane without management: saves nothing.
    pub none: Outcome,
    /// Lane that clears each tool result after its last use: saves the lossless maximum.
    pub hindsight: Outcome,
}

impl ReuseDistances {
    /// Computes the distances and bounds.
    pub fn new(names: &Names, runs: &Runs) -> Self {
        let (case, none) = (&runs.case, policies::bundled_none());
        let values = knobs::values(&none, &runs.config.knobs);
        Self {
            curves: reuse_distances(names, case),
            bounds: LosslessBounds {
                none: simulate(case, &none, &values, None),
                hindsight: hindsight(names, case, runs.output_reserve),
            },
        }
    }
}

/// The losses of all lanes.
#[derive(Debug)]
pub struct Losses {
    /// The index of the session's names.
    pub names: Arc<Names>,
    /// The recorded lane by the same measure: the noise floor.
    pub recorded: LaneLoss,
    /// One entry per lane.
    pub lanes: Vec<Arc<LaneLoss>>,
    /// Insights with their lane.
    pub insights: Vec<(Option<usize>, Insight)>,
    /// The hindsight optimum in money, if prices are known.
    pub cheapest: Option<CheapestRun>,
    reuse: Arc<ReuseDistances>,
}

/// The losses of one lane.
#[derive(Debug)]
pub struct LaneLoss {
    /// Uses of removed content, and instructions missing from the context. Survival is not included: [`super::facts`]
    /// counts it.
    pub found: Loss,
    /// Saved tokens as a share of the lossless maximum.
    pub saved: Option<Share>,
    run: Arc<LaneRun>,
}

impl Losses {
    /// Computes the losses; unchanged lanes keep their results.
    pub fn new(
        runs: &Runs,
        names: &Arc<Names>,
        reuse: &Arc<ReuseDistances>,
        billing: &BillingChoice,
        before: Option<&Self>,
    ) -> Self {
        let case = &runs.case;
        // An identical run implies an identical case.
        let before = before.filter(|b| Arc::ptr_eq(&b.reuse, reuse));
        let kept = |run: &Arc<LaneRun>| {
            let same = before?.lanes.iter().find(|lane| lane.is_of(run));
            same.map(Arc::clone)
        };
        let lanes = runs.lanes.par_iter();
        let lanes = lanes.map(|run| {
            kept(run).unwrap_or_else(|| Arc::new(LaneLoss::new(case, names, &reuse.bounds, run)))
        });
        let lanes: Vec<_> = lanes.collect();
        let recorded = LaneLoss {
            saved: None,
            ..LaneLoss::new(case, names, &reuse.bounds, &runs.recorded)
        };
        let prices = billing.prices();
        let bills = Bills::new(case, billing.at(&prices));
        let outcomes = (&runs.recorded.outcome, &reuse.bounds.hindsight);
        let cheapest = CheapestRun::find(names, case, &bills, runs.output_reserve, outcomes);
        Self {
            insights: insights(runs, names, &lanes, &recorded),
            lanes,
            recorded,
            cheapest,
            names: Arc::clone(names),
            reuse: Arc::clone(reuse),
        }
    }

    /// Returns the losses of a lane, or of the recorded one.
    pub fn of(&self, lane: Option<usize>) -> Option<&LaneLoss> {
        match lane {
            Some(lane) => self.lanes.get(lane).map(Arc::as_ref),
            None => Some(&self.recorded),
        }
    }

    /// Returns all losses, the recorded lane first.
    pub fn all(&self) -> impl Iterator<Item = (Option<usize>, &LaneLoss)> {
        let lanes = self.lanes.iter().enumerate();
        let lanes = lanes.map(|(idx, lane)| (Some(idx), lane.as_ref()));
        std::iter::once((None, &self.recorded)).chain(lanes)
    }
}

impl LaneLoss {
    fn new(case: &Case, names: &Names, bounds: &LosslessBounds, run: &Arc<LaneRun>) -> Self {
        Self {
            found: Loss {
                at_risk: references_at_risk(names, case, &run.outcome),
                standing: standing(names, case, &run.outcome),
                survival: Vec::new(),
                is_predicted: run.outcome.received.texts.iter().any(|t| t.is_predicted),
            },
            saved: saved(&bounds.none, &bounds.hindsight, &run.outcome),
            run: Arc::clone(run),
        }
    }

    /// Returns whether the losses belong to this run.
    pub fn is_of(&self, run: &Arc<LaneRun>) -> bool {
        Arc::ptr_eq(&self.run, run)
    }
}

fn insights(
    runs: &Runs,
    names: &Names,
    lanes: &[Arc<LaneLoss>],
    floor: &LaneLoss,
) -> Vec<(Option<usize>, Insight)> {
    let of = |lane: Option<&str>, loss: &LaneLoss| {
        loss_insights(&runs.case, names, lane, &loss.found, &floor.found)
    };
    let recorded = of(None, floor).into_iter().map(|found| (None, found));
    let lanes = lanes.iter().zip(&runs.labels).enumerate();
    let lanes = lanes.flat_map(|(idx, (lane, label))| {
        let found = of(Some(label), lane).into_iter();
        found.map(move |found| (Some(idx), found))
    });
    recorded.chain(lanes).collect()
}
