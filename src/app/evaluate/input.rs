//! Input of the tab Evaluate.

use super::facts::Evaluation;
use super::losses::Losses;
use super::state::EvaluateView;
use crate::analysis::facts::Facts;
use crate::app::cost::compute::Costs;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::shell::open_session::OpenSession;

/// Input of the tab Evaluate.
pub(in crate::app) struct EvaluateInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The selection.
    pub(in crate::app) selection: Selection,
    /// The facts of the session; `None` until they are first shown and found.
    pub(in crate::app) facts: Option<&'a Facts>,
    /// The facts that each lane kept; `None` until they are first shown and followed.
    pub(in crate::app) evaluation: Option<&'a Evaluation>,
    /// Costs of the lanes; `None` while they are computed.
    pub(in crate::app) costs: Option<&'a Costs>,
    /// Expected re-reads and references at risk of every lane; `None` while they are computed.
    pub(in crate::app) losses: Option<&'a Losses>,
    /// View settings.
    pub(in crate::app) view: EvaluateView,
}

impl<'a> EvaluateInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            selection: session.selection,
            facts: session.derived.facts(),
            evaluation: session.derived.evaluation(),
            costs: session.derived.costs(),
            losses: session.derived.losses(),
            view: session.view.evaluate,
        }
    }
}
