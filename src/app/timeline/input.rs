//! Input of the timeline panel.

use super::state::TimelineView;
use crate::app::compare::comparison::OpenComparison;
use crate::app::compare::state::CompareView;
use crate::app::config::Config;
use crate::app::cost::compute::Costs;
use crate::app::evaluate::losses::Losses;
use crate::app::messages::cumulative::CumulativeTokens;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::shell::open_session::{FrameRequests, OpenSession};
use crate::app::view::Tab;
use crate::engine::Sample;

/// Input of the timeline panel.
pub(in crate::app) struct TimelinePanelInput<'a> {
    /// The session.
    pub(in crate::app) document: &'a Document,
    /// The latest runs.
    pub(in crate::app) runs: &'a Runs,
    /// The current configuration. The runs can still be of an earlier one.
    pub(in crate::app) config: &'a Config,
    /// The selection.
    pub(in crate::app) selection: Selection,
    /// Number of calls that sent each message; `None` while it is computed.
    pub(in crate::app) cumulative: Option<&'a CumulativeTokens>,
    /// The curve of the setting under the pointer.
    pub(in crate::app) tried_setting: Option<&'a [Sample]>,
    /// Costs of all lanes; `None` while they are computed.
    pub(in crate::app) costs: Option<&'a Costs>,
    /// Expected re-reads and references at risk of every lane; `None` while they are computed.
    pub(in crate::app) losses: Option<&'a Losses>,
    /// The comparison with a second session, if any.
    pub(in crate::app) comparison: Option<&'a OpenComparison>,
    /// View settings of the comparison.
    pub(in crate::app) compare_view: CompareView,
    /// Whether the runs are of an earlier configuration.
    pub(in crate::app) is_stale: bool,
    /// Requests for this frame only.
    pub(in crate::app) once: FrameRequests,
    /// Whether a dialog covers the panels.
    pub(in crate::app) is_covered: bool,
    /// Revision of the results, used as a cache key.
    pub(in crate::app) revision: u64,
    /// View settings.
    pub(in crate::app) view: TimelineView,
    /// Whether to show the curve of the setting under the pointer.
    pub(in crate::app) shows_tried_setting: bool,
}

impl<'a> TimelinePanelInput<'a> {
    /// Reads the input from an open session.
    pub(in crate::app) fn new(session: &OpenSession<'a>) -> Self {
        Self {
            document: session.document,
            runs: session.runs,
            config: session.config,
            selection: session.selection,
            cumulative: session.derived.cumulative(),
            tried_setting: session
                .derived
                .hovered_setting(session.sweep, session.view.tune.hovered),
            costs: session.derived.costs(),
            losses: session.derived.losses(),
            comparison: session.comparison,
            compare_view: session.view.compare,
            is_stale: session.derived.is_stale(),
            once: session.once,
            is_covered: session.is_covered,
            revision: session.derived.revision(),
            view: session.view.timeline,
            shows_tried_setting: session.view.tab == Tab::Tune,
        }
    }
}
