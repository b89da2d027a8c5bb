//! Input of the lanes.

use super::rows::LaneRows;
use crate::analysis::cost::Cost;
use crate::app::config::Config;
use crate::app::cost::compute::Costs;
use crate::app::evaluate::losses::{LaneLoss, Losses};
use crate::app::open::document::Document;
use crate::app::runs::replays::{LaneRun, Runs};
use crate::app::selection::Selection;
use crate::app::settings_panel::policies::Policies;
use crate::app::shell::open_session::{FrameRequests, OpenSession};
use std::collections::BTreeSet;

/// Input of the lanes.
pub(in crate::app) struct LanesInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The rows of the lanes.
    pub(in crate::app) rows: &'a LaneRows,
    /// The current configuration. The runs can still be of an earlier one.
    pub(in crate::app) config: &'a Config,
    /// The selection.
    pub(in crate::app) selection: Selection,
    /// All available policies.
    pub(in crate::app) policies: &'a Policies,
    /// Costs of all lanes; `None` while they are computed.
    pub(in crate::app) costs: Option<&'a Costs>,
    /// Expected re-reads and references at risk of every lane; `None` while they are computed.
    pub(in crate::app) losses: Option<&'a Losses>,
    /// Whether the runs are of an earlier configuration.
    pub(in crate::app) is_stale: bool,
    /// Requests for this frame only.
    pub(in crate::app) once: FrameRequests,
    /// Messages whose folds are open.
    pub(in crate::app) unfolded: &'a BTreeSet<u32>,
}

impl<'a> LanesInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            rows: session.rows,
            config: session.config,
            selection: session.selection,
            policies: session.policies,
            costs: session.derived.costs(),
            losses: session.derived.losses(),
            is_stale: session.derived.is_stale(),
            once: session.once,
            unfolded: &session.view.unfolded,
        }
    }
}

impl<'a> LanesInput<'a> {
    /// Returns the recorded lane and the others, from left to right.
    pub(super) fn columns(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        std::iter::once(None).chain((0..self.runs.lanes.len()).map(Some))
    }

    /// Returns the run of a lane, or of the recorded one.
    pub(super) fn run(&self, lane: Option<usize>) -> &'a LaneRun {
        self.runs.lane(lane).unwrap_or(&self.runs.recorded)
    }

    /// Returns the lane's cost, or `None` while it is computed.
    pub(super) fn cost(&self, lane: Option<usize>) -> Option<&'a Cost> {
        let cost = self.costs?.of(lane)?;
        // Each change replaces the recorded run by one with equal figures.
        let is_current = lane.is_none_or(|lane| cost.is_of(&self.runs.lanes[lane]));
        is_current.then_some(&cost.cost)
    }

    /// Returns the lane's losses, or `None` while they are computed.
    pub(super) fn loss(&self, lane: Option<usize>) -> Option<&'a LaneLoss> {
        let loss = self.losses?.of(lane)?;
        let is_current = lane.is_none_or(|lane| loss.is_of(&self.runs.lanes[lane]));
        is_current.then_some(loss)
    }
}
