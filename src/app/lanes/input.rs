//! Input of the lanes.

use super::rows::LaneRows;
use crate::app::config::Config;
use crate::app::cost::compute::Costs;
use crate::app::evaluate::losses::Losses;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
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
    /// References at risk in every lane; `None` while they are computed.
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
