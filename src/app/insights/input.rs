//! Input of the tab Insights.

use super::list::InsightsView;
use super::session::SessionInsights;
use crate::app::cost::compute::Costs;
use crate::app::cost::state::CostView;
use crate::app::evaluate::losses::Losses;
use crate::app::evaluate::state::EvaluateView;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::shell::open_session::{FrameRequests, OpenSession};

/// Input of the tab Insights.
pub(in crate::app) struct InsightsInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// Costs of all lanes; `None` while they are computed.
    pub(in crate::app) costs: Option<&'a Costs>,
    /// Insights about the session; `None` while they are computed.
    pub(in crate::app) insights: Option<&'a SessionInsights>,
    /// Expected re-reads and references at risk of every lane; `None` while they are computed.
    pub(in crate::app) losses: Option<&'a Losses>,
    /// Requests for this frame only.
    pub(in crate::app) once: FrameRequests,
    /// View settings.
    pub(in crate::app) view: &'a InsightsView,
    /// View settings of the tab Cost, for links.
    pub(in crate::app) cost_view: CostView,
    /// View settings of the tab Evaluate, for links.
    pub(in crate::app) evaluate_view: EvaluateView,
}

impl<'a> InsightsInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            costs: session.derived.costs(),
            insights: session.derived.insights(),
            losses: session.derived.losses(),
            once: session.once,
            view: &session.view.insights,
            cost_view: session.view.cost,
            evaluate_view: session.view.evaluate,
        }
    }
}
