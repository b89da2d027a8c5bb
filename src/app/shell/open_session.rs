//! The open session as panels read it. Each panel takes its own input from it.

use crate::app::compare::comparison::OpenComparison;
use crate::app::config::Config;
use crate::app::cost::billing::OwnPrice;
use crate::app::derived::Derived;
use crate::app::lanes::rows::LaneRows;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::settings_panel::policies::Policies;
use crate::app::tune::sweep::Sweep;
use crate::app::view::View;

/// The open session with its settings and results.
pub(in crate::app) struct OpenSession<'a> {
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
    /// View settings.
    pub(in crate::app) view: &'a View,
    /// All available policies.
    pub(in crate::app) policies: &'a Policies,
    /// Results computed so far.
    pub(in crate::app) derived: &'a Derived,
    /// Results of the settings sweep, if any.
    pub(in crate::app) sweep: Option<&'a Sweep>,
    /// The comparison with a second session, if any.
    pub(in crate::app) comparison: Option<&'a OpenComparison>,
    /// Custom prices entered before, if any.
    pub(in crate::app) own_price: Option<OwnPrice>,
    /// Whether a dialog covers the panels.
    pub(in crate::app) is_covered: bool,
    /// Requests for this frame only.
    pub(in crate::app) once: FrameRequests,
}

/// Requests to the panels for one frame.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent requests")]
pub(in crate::app) struct FrameRequests {
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
