//! The panels of the window. They read their input and return commands; they do not change state.

use super::resizable_panel::{Edge, RoomyPanel, Side};
use crate::app::changes::compute::Changes;
use crate::app::command::Command;
use crate::app::cost::billing::OwnPrice;
use crate::app::cost::compute::Costs;
use crate::app::events::list::EventList;
use crate::app::insights::session::SessionInsights;
use crate::app::lanes::rows::LaneRows;
use crate::app::loss::compute::{Losses, Reach, Survivals};
use crate::app::messages::cumulative::CarriedTable;
use crate::app::messages::text::MessageText;
use crate::app::open::document::Document;
use crate::app::open::followed_file::LiveState;
use crate::app::open::loading::Loading;
use crate::app::policy_panel::policies::Policies;
use crate::app::runs::replays::Runs;
use crate::app::sessions::list::Sessions;
use crate::app::state::{Config, Selection, View};
use crate::app::theme::palette;
use crate::app::tune::sweep::Tuning;
use crate::engine::Sample;
use egui::{CentralPanel, Frame as UiFrame, Margin, Panel, Rangef, Ui};
use std::path::PathBuf;

/// Input of the panels that are also shown without an open session.
pub struct Frame<'a> {
    /// The open session.
    pub document: Option<&'a Document>,
    /// The session that is being opened.
    pub loading: Option<&'a Loading>,
    /// The error of the last attempt to open a session.
    pub problem: Option<&'a str>,
    /// The current configuration.
    pub config: &'a Config,
    /// State of the open file if it has changed since it was opened.
    pub live: Option<LiveState<'a>>,
    /// Recently opened files and folders.
    pub recent: &'a [PathBuf],
    /// The list of sessions, shown or behind the open session.
    pub list: Option<&'a Sessions>,
    /// Index of the selected call.
    pub step: usize,
    /// View settings.
    pub view: &'a View,
    /// Whether an undo is possible.
    pub can_undo: bool,
    /// Whether a redo is possible.
    pub can_redo: bool,
}

/// Input of the panels of an open session. Optional results are `None` while they are computed.
pub struct PanelInput<'a> {
    /// The session.
    pub document: &'a Document,
    /// The latest runs.
    pub runs: &'a Runs,
    /// Revision of the results, used as a cache key.
    pub revision: u64,
    /// The rows of the lanes.
    pub rows: &'a LaneRows,
    /// The order of the message table.
    pub order: &'a [u32],
    /// The filtered events.
    pub events: Option<&'a EventList>,
    /// Number of calls that sent each message.
    pub carried: Option<&'a CarriedTable>,
    /// Costs of all lanes.
    pub costs: Option<&'a Costs>,
    /// Insights about the session.
    pub insights: Option<&'a SessionInsights>,
    /// References at risk in every lane.
    pub losses: Option<&'a Losses>,
    /// Distances of the agent's references to earlier content.
    pub reach: Option<&'a Reach>,
    /// Survival at recorded compactions. `None` until it is first shown and computed.
    pub survivals: Option<&'a Survivals>,
    /// Results of the settings sweep, if any.
    pub tuning: Option<&'a Tuning>,
    /// The curve of the setting under the pointer.
    pub ghost: Option<&'a [Sample]>,
    /// The focused lane's samples in the order of the list of calls.
    pub calls: &'a [u32],
    /// Custom prices entered before, if any.
    pub own_price: Option<OwnPrice>,
    /// The current configuration. The runs can still be of an earlier one.
    pub config: &'a Config,
    /// The selected message in full, once read.
    pub text: Option<&'a MessageText>,
    /// The focused lane's changes to the selection.
    pub changes: Option<&'a Changes>,
    /// The selection.
    pub selection: Selection,
    /// View settings.
    pub view: &'a View,
    /// All available policies.
    pub policies: &'a Policies,
    /// Whether the runs are of an earlier configuration.
    pub is_stale: bool,
    /// Whether a dialog covers the panels.
    pub is_covered: bool,
    /// Requests for this frame only.
    pub once: Once,
}

/// Requests to the panels for one frame.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent requests")]
pub struct Once {
    /// Focus the message filter.
    pub focuses_filter: bool,
    /// Scroll the list of events to the selected call.
    pub reveals_event: bool,
    /// Scroll lanes and table to the selected message.
    pub reveals_message: bool,
    /// Scroll the reordered table to the selected message or to its beginning.
    pub reorders_messages: bool,
    /// Scroll the insights to the open one.
    pub reveals_insight: bool,
}

/// Shows all panels of an open session.
pub fn show_all(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    frame: &Frame<'_>,
    commands: &mut Vec<Command>,
) {
    let palette = palette(ui);
    let plain = UiFrame::new().fill(palette.panel);
    let dark = UiFrame::new().fill(palette.background);
    let height = ui.available_height();
    Panel::top("verdict")
        .frame(plain.inner_margin(Margin::symmetric(16, 8)))
        .show(ui, |ui| {
            crate::app::verdict::show(ui, input, frame, commands);
        });
    let [lanes, drawer, settings] = place_panels(ui, input, height);
    let ((mut lanes, lanes_edge), (mut drawer, drawer_edge)) = (lanes, drawer);
    let (mut settings, settings_edge) = settings;
    CentralPanel::no_frame()
        .frame(dark.inner_margin(Margin {
            left: 12,
            right: 4,
            top: 6,
            bottom: 2,
        }))
        .show(ui, |ui| {
            crate::app::timeline::panel::show(ui, input, commands);
        });
    crate::app::lanes::panel::show(&mut lanes, input, commands);
    super::drawer::show(&mut drawer, input, commands);
    crate::app::policy_panel::panel::show(&mut settings, input, commands);
    for edge in [lanes_edge, drawer_edge, settings_edge] {
        edge.show(ui);
    }
}

/// Minimum height of the timeline with legend, axis and overview, in points. The panels below it shrink first.
const TIMELINE: f32 = 226.0;
/// Minimum height of the drawer, in points.
const DRAWER: f32 = 96.0;
/// Initial height of the drawer: a share of the available height, and a minimum in points.
const SHARE: f32 = 0.30;
const ROOMY: f32 = 224.0;
/// Window width in points below which the drawer takes the whole width, below the settings.
const NARROW: f32 = 1100.0;
/// Name of the settings panel.
pub(super) const SETTINGS: &str = "policy";

/// Places lanes, drawer and settings from the outside inwards. The caller shows them in the order of keyboard focus. By
/// default lanes and drawer take shares of the height, so a small window keeps the proportions. The timeline always
/// keeps its minimum height, even if the other panels were resized in a larger window.
fn place_panels(ui: &mut Ui, input: &PanelInput<'_>, height: f32) -> [(Ui, Edge); 3] {
    let palette = palette(ui);
    let plain = UiFrame::new().fill(palette.panel);
    let width = ui.available_width();
    let is_narrow = width < NARROW;
    let settings = RoomyPanel {
        name: SETTINGS,
        side: Side::Right,
        usual: 292.0,
        range: Rangef::new(248.0, 420.0),
        frame: plain.inner_margin(Margin::symmetric(16, 12)),
    };
    let room = |ui: &Ui, above: f32, least: f32| (ui.available_height() - above).max(least);
    let least_lanes =
        crate::app::lanes::panel::least_height(ui, input, width - settings.extent(ui));
    // All tabs share one height, so that the tab row does not move under the pointer.
    let drawer = RoomyPanel {
        name: "drawer",
        side: Side::Bottom,
        usual: (height * SHARE).round().max(ROOMY),
        range: Rangef::new(DRAWER, room(ui, TIMELINE + least_lanes, DRAWER)),
        frame: plain,
    };
    let (drawer, settings) = if is_narrow {
        let drawer = drawer.place(ui);
        (drawer, settings.place(ui))
    } else {
        let settings = settings.place(ui);
        (drawer.place(ui), settings)
    };
    let lanes = RoomyPanel {
        name: "lanes",
        side: Side::Bottom,
        usual: (height * SHARE).round(),
        range: Rangef::new(least_lanes, room(ui, TIMELINE, least_lanes)),
        frame: UiFrame::new().fill(palette.background),
    };
    [lanes.place(ui), drawer, settings]
}
