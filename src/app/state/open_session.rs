//! The open session as panels read it. Each panel takes its own input from it.

use crate::analysis::cost::Cost;
use crate::app::state::changes::changed::Changes;
use crate::app::state::compare::comparison::OpenComparison;
use crate::app::state::evaluate::losses::LaneLoss;
use crate::app::state::lanes::rows::LaneRows;
use crate::app::state::messages::text::MessageText;
use crate::app::state::model::billing::OwnPrice;
use crate::app::state::model::config::Config;
use crate::app::state::model::derived::Derived;
use crate::app::state::model::document::Document;
use crate::app::state::model::policies::Policies;
use crate::app::state::model::runs::replays::{LaneRun, Runs};
use crate::app::state::model::selection::Selection;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::View;
use crate::app::state::tune::sweep::Sweep;
use crate::engine::Sample;

/// The open session with its settings and results.
pub(crate) struct OpenSession<'a> {
    /// The session.
    pub(crate) document: &'a Document,
    /// The latest runs.
    pub(crate) runs: &'a Runs,
    /// The rows of the lanes.
    pub(crate) rows: &'a LaneRows,
    /// The current configuration. The runs can still be of an earlier one.
    pub(crate) config: &'a Config,
    /// The selection.
    pub(crate) selection: Selection,
    /// View settings.
    pub(crate) view: &'a View,
    /// All available policies.
    pub(crate) policies: &'a Policies,
    /// Results computed so far.
    pub(crate) derived: &'a Derived,
    /// Results of the settings sweep, if any.
    pub(crate) sweep: Option<&'a Sweep>,
    /// The comparison with a second session, if any.
    pub(crate) comparison: Option<&'a OpenComparison>,
    /// Custom prices entered before, if any.
    pub(crate) own_price: Option<OwnPrice>,
    /// Whether a dialog covers the panels.
    pub(crate) is_covered: bool,
    /// Requests for this frame only.
    pub(crate) once: FrameRequests,
}

impl<'a> OpenSession<'a> {
    /// Returns the recorded lane and the others, from left to right.
    pub(crate) fn columns(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        std::iter::once(None).chain((0..self.runs.lanes.len()).map(Some))
    }

    /// Returns the run of a lane, or of the recorded one.
    pub(crate) fn run(&self, lane: Option<usize>) -> &'a LaneRun {
        self.runs.lane(lane).unwrap_or(&self.runs.recorded)
    }

    /// Returns the lane's cost, or `None` while it is computed.
    pub(crate) fn cost(&self, lane: Option<usize>) -> Option<&'a Cost> {
        let cost = self.derived.costs()?.of(lane)?;
        // Each change replaces the recorded run by one with equal figures.
        let is_current = lane.is_none_or(|lane| cost.is_of(&self.runs.lanes[lane]));
        is_current.then_some(&cost.cost)
    }

    /// Returns the lane's losses, or `None` while they are computed.
    pub(crate) fn loss(&self, lane: Option<usize>) -> Option<&'a LaneLoss> {
        let loss = self.derived.losses()?.of(lane)?;
        let is_current = lane.is_none_or(|lane| loss.is_of(&self.runs.lanes[lane]));
        is_current.then_some(loss)
    }

    /// Returns the full text of the selected message, if ready.
    pub(crate) fn selected_text(&self) -> Option<&'a MessageText> {
        self.derived.selected_text(self.document, &self.selection, self.view)
    }

    /// Returns the changes of the selected item in the focused lane, if ready.
    pub(crate) fn selected_changes(&self) -> Option<&'a Changes> {
        self.derived.selected_changes(&self.selection, self.view)
    }

    /// Returns the curve of the setting under the pointer, once it was replayed.
    pub(crate) fn tried_setting(&self) -> Option<&'a [Sample]> {
        self.derived.hovered_setting(self.sweep, self.view.tune().hovered)
    }

    /// Returns whether the curve of the setting under the pointer is shown.
    pub(crate) fn shows_tried_setting(&self) -> bool {
        self.view.tab == Tab::TUNE
    }
}

/// Requests to the panels for one frame.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent requests")]
pub(crate) struct FrameRequests {
    /// Focus the message filter.
    pub focuses_filter: bool,
    /// Focus the path field of an empty tab.
    pub focuses_path: bool,
    /// Scroll the message detail to the match that was found last.
    pub reveals_hit: bool,
    /// Scroll the list of events to the selected call.
    pub reveals_event: bool,
    /// Scroll lanes and table to the selected message.
    pub reveals_message: bool,
    /// Scroll the reordered table to the selected message or to its beginning.
    pub reorders_messages: bool,
    /// Zoom the timeline to the selected calls.
    pub zooms_to_calls: bool,
    /// Scroll the insights to the open one.
    pub reveals_insight: bool,
}
