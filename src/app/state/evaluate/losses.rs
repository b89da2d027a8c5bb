//! Expected re-reads and references at risk of every lane, with the recorded lane by the same measures.

use crate::analysis::insight::{Insight, loss_insights};
use crate::analysis::loss::{Loss, references_at_risk, standing};
use crate::analysis::rereads::{ExpectedRereads, RemovedFile};
use crate::app::state::evaluate::session::SessionRereads;
use crate::app::state::model::runs::replays::{LaneRun, Runs};
use rayon::prelude::*;
use std::sync::Arc;

/// The losses of all lanes.
#[derive(Debug)]
pub struct Losses {
    /// Data that all lanes share.
    pub session: Arc<SessionRereads>,
    /// The recorded lane by the same measures: the noise floor of references at risk.
    pub recorded: LaneLoss,
    /// One entry per lane.
    pub lanes: Vec<Arc<LaneLoss>>,
    /// Insights with their lane.
    pub insights: Vec<(Option<usize>, Insight)>,
}

/// The losses of one lane.
#[derive(Debug)]
pub struct LaneLoss {
    /// Uses of removed content, and instructions missing from the context. Survival is not included: [`crate::app::state::evaluate::facts`]
    /// counts it.
    pub found: Arc<Loss>,
    /// The re-reads that its removals are expected to cause.
    pub rereads: ExpectedRereads,
    /// Indices of the removals, those with the most expected re-reads first.
    likely: Vec<usize>,
    run: Arc<LaneRun>,
}

impl Losses {
    /// Computes the losses; unchanged lanes keep their results.
    pub fn new(runs: &Runs, session: &Arc<SessionRereads>, before: Option<&Self>) -> Self {
        // An identical run implies an identical case, but prices may differ.
        let is_same = before.is_some_and(|before| Arc::ptr_eq(&before.session, session));
        let lane = |run: &Arc<LaneRun>| {
            let lanes = before.map_or(&[][..], |before| &before.lanes);
            match lanes.iter().find(|lane| lane.is_of(run)) {
                Some(lane) if is_same => Arc::clone(lane),
                Some(lane) => Arc::new(LaneLoss::new(runs, session, run, Arc::clone(&lane.found))),
                None => Arc::new(LaneLoss::of_run(runs, session, run)),
            }
        };
        let lanes: Vec<_> = runs.lanes.par_iter().map(lane).collect();
        let recorded = LaneLoss::of_run(runs, session, &runs.recorded);
        Self {
            insights: insights(runs, session, &lanes, &recorded),
            lanes,
            recorded,
            session: Arc::clone(session),
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
    fn of_run(runs: &Runs, session: &SessionRereads, run: &Arc<LaneRun>) -> Self {
        let (names, case) = (&session.index.names, &runs.case);
        let found = Loss {
            at_risk: references_at_risk(names, case, &run.outcome),
            standing: standing(names, case, &run.outcome),
            survival: Vec::new(),
            is_predicted: run.outcome.received.texts.iter().any(|t| t.is_predicted),
        };
        Self::new(runs, session, run, Arc::new(found))
    }

    fn new(runs: &Runs, session: &SessionRereads, run: &Arc<LaneRun>, found: Arc<Loss>) -> Self {
        let rereads = session.measure().rereads(&runs.case, &run.outcome);
        let mut likely: Vec<usize> = (0..rereads.removals.len()).collect();
        let extra = |idx: usize| rereads.removals[idx].extra;
        likely.sort_by(|a, b| extra(*b).total_cmp(&extra(*a)));
        Self { found, rereads, likely, run: Arc::clone(run) }
    }

    /// Returns whether the losses belong to this run.
    pub fn is_of(&self, run: &Arc<LaneRun>) -> bool {
        Arc::ptr_eq(&self.run, run)
    }

    /// Returns the removals of files' content, those with the most expected re-reads first.
    pub fn likely(&self) -> impl Iterator<Item = &RemovedFile> {
        self.likely.iter().map(|idx| &self.rereads.removals[*idx])
    }
}

fn insights(
    runs: &Runs,
    session: &SessionRereads,
    lanes: &[Arc<LaneLoss>],
    floor: &LaneLoss,
) -> Vec<(Option<usize>, Insight)> {
    let index = (&session.index.names, &session.index.files);
    let of = |lane: Option<&str>, loss: &LaneLoss| {
        let own = (&*loss.found, &loss.rereads);
        loss_insights(&runs.case, index, lane, own, &floor.found)
    };
    let recorded = of(None, floor).into_iter().map(|found| (None, found));
    let lanes = lanes.iter().zip(&runs.labels).enumerate();
    let lanes = lanes.flat_map(|(idx, (lane, label))| {
        let found = of(Some(label), lane).into_iter();
        found.map(move |found| (Some(idx), found))
    });
    recorded.chain(lanes).collect()
}
