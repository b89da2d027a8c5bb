//! The parts of the window. Each reads what it is given and asks by commands; none acts.

mod about;
pub mod bar;
mod belief;
mod changes;
mod conversations;
pub mod convert;
mod cost;
mod detail;
mod drawer;
mod event_detail;
mod events;
pub mod export;
pub mod handout;
mod import;
mod in_view;
mod insight;
mod insights;
mod knob_list;
mod knob_meaning;
mod knob_reach;
mod knobs;
mod lane_head;
mod lanes;
mod loading;
mod loss;
mod marks;
mod messages;
mod model_menu;
pub mod path_dialog;
mod path_field;
mod preset_menu;
pub mod preset_saving;
mod provider_errors;
mod restarts;
mod roomy_panel;
pub mod run_logs;
pub mod sessions;
pub mod shortcuts;
mod staying;
mod table;
mod timeline;
pub mod toasts;
mod tune;
mod verdict;
pub mod welcome;

pub use drawer::tab_at;

use crate::app::billing::OwnPrice;
use crate::app::carried::CarriedTable;
use crate::app::changes::Changes;
use crate::app::command::Command;
use crate::app::costs::Costs;
use crate::app::document::Document;
use crate::app::event_table::EventList;
use crate::app::lane_rows::LaneRows;
use crate::app::live::LiveState;
use crate::app::load::Loading;
use crate::app::losses::{Losses, Reach, Survivals};
use crate::app::message_text::MessageText;
use crate::app::policies::Policies;
use crate::app::runs::Runs;
use crate::app::session_insights::SessionInsights;
use crate::app::sessions::Sessions;
use crate::app::state::{Config, Selection, View};
use crate::app::theme::{palette, space};
use crate::app::tuning::Tuning;
use crate::engine::Sample;
use crate::safe_text;
use egui::{CentralPanel, Frame as UiFrame, Margin, Panel, Rangef, Ui};
use roomy_panel::{Edge, RoomyPanel, Side};
use std::path::{Path, PathBuf};

/// What the frame around the panels shows, also before anything is open.
pub struct Frame<'a> {
    /// The open session.
    pub document: Option<&'a Document>,
    /// A session that is being opened.
    pub loading: Option<&'a Loading>,
    /// Why the last one could not be.
    pub problem: Option<&'a str>,
    /// What is wanted.
    pub config: &'a Config,
    /// Whether the open file is still being written; none while it has not changed.
    pub live: Option<LiveState<'a>>,
    /// Files and folders opened lately.
    pub recent: &'a [PathBuf],
    /// The list of sessions, shown or behind the open session.
    pub list: Option<&'a Sessions>,
    /// Index of the selected step.
    pub step: usize,
    /// How things are looked at.
    pub view: &'a View,
    /// Something can be undone.
    pub can_undo: bool,
    /// Something can be redone.
    pub can_redo: bool,
}

/// What the panels of an open session show.
pub struct PanelInput<'a> {
    /// The session.
    pub document: &'a Document,
    /// The latest runs.
    pub runs: &'a Runs,
    /// Counts the results so far, to key what is computed from them.
    pub revision: u64,
    /// The lanes side by side.
    pub rows: &'a LaneRows,
    /// The message table's order.
    pub order: &'a [u32],
    /// The events that are listed; none while they are sorted out.
    pub events: Option<&'a EventList>,
    /// How long messages were carried; none while that is worked out.
    pub carried: Option<&'a CarriedTable>,
    /// What everything costs; none while that is worked out.
    pub costs: Option<&'a Costs>,
    /// What there is to know about the session; none while it is looked through.
    pub insights: Option<&'a SessionInsights>,
    /// What every lane lacked; none while that is worked out.
    pub losses: Option<&'a Losses>,
    /// How far back the agent reached; none while that is worked out.
    pub reach: Option<&'a Reach>,
    /// What recorded compactions left; none while that is worked out, and until somebody wants to see it.
    pub survivals: Option<&'a Survivals>,
    /// What was tried of settings, if anything was.
    pub tuning: Option<&'a Tuning>,
    /// The curve of the setting under the pointer.
    pub ghost: Option<&'a [Sample]>,
    /// The focused lane's samples in the order of the list of calls.
    pub calls: &'a [u32],
    /// Prices that the person typed before, if any.
    pub own_price: Option<OwnPrice>,
    /// What is wanted; the runs may still be of a config before.
    pub config: &'a Config,
    /// The selected message in full; none while it is read.
    pub text: Option<&'a MessageText>,
    /// What the focused lane has in the place of what is selected; none while that is worked out.
    pub changes: Option<&'a Changes>,
    /// What is selected.
    pub selection: Selection,
    /// How it is looked at.
    pub view: &'a View,
    /// Every policy there is.
    pub policies: &'a Policies,
    /// The runs are of a config before.
    pub is_stale: bool,
    /// A dialog lies over the panels.
    pub is_covered: bool,
    /// What is to be done in this frame only.
    pub once: Once,
}

/// What panels are told in one frame only.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is told by itself")]
pub struct Once {
    /// Put the cursor in the message filter.
    pub focuses_filter: bool,
    /// Scroll the list of events to the selected call.
    pub reveals_event: bool,
    /// Scroll lanes and table to the selected message.
    pub reveals_message: bool,
    /// The table has another order: scroll to the selected message there, or to its beginning.
    pub reorders_messages: bool,
    /// Scroll the insights to the open one.
    pub reveals_insight: bool,
}

/// Every panel of an open session, each in its place.
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
            verdict::show(ui, input, frame, commands);
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
            timeline::show(ui, input, commands);
        });
    lanes::show(&mut lanes, input, commands);
    drawer::show(&mut drawer, input, commands);
    knobs::show(&mut settings, input, commands);
    for edge in [lanes_edge, drawer_edge, settings_edge] {
        edge.show(ui);
    }
}

/// Least height of the timeline with legend, axis and overview: what is below it gives way.
const TIMELINE: f32 = 226.0;
/// Least height of the drawer.
const DRAWER: f32 = 96.0;
/// The drawer's height until it is dragged: a share of what there is, and what a picture or a few rows need.
const SHARE: f32 = 0.30;
const ROOMY: f32 = 224.0;
/// In a narrower window the drawer takes the whole width, with the settings above it.
const NARROW: f32 = 1100.0;
/// What the panel of settings is called.
const SETTINGS: &str = "policy";

/// Places lanes, drawer and settings from the outside inwards; they are shown in the order in which the keyboard goes
/// through them. By default lanes and drawer have shares of the height, so that a small window keeps the picture's
/// proportions; however high they were dragged, in a larger window maybe, the timeline keeps its least height.
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
    let least_lanes = lanes::least_height(ui, input, width - settings.extent(ui));
    // One height for all tabs: their row stays under the pointer whichever is chosen.
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

/// A dialog's frame, with room around what it says.
fn dialog(ui: &Ui, name: &str) -> egui::Modal {
    egui::Modal::new(egui::Id::unique(name))
        .frame(UiFrame::popup(ui.style()).inner_margin(Margin::same(20)))
}

/// The title of a dialog.
fn dialog_title(ui: &mut Ui, title: &str) {
    let title = egui::RichText::new(title).text_style(crate::app::theme::strong());
    ui.label(title.size(15.0));
    ui.add_space(space::S);
}

/// How a file or folder is called among those opened lately: a folder's path ends in a separator.
fn recent_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = safe_text::one_line(&name.to_string_lossy(), 80);
    let is_folder = path.to_string_lossy().ends_with(std::path::is_separator);
    if is_folder { format!("{name}/") } else { name }
}

/// A text up to where its first sentence ends.
fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// Small weak text.
fn small(ui: &Ui, text: impl Into<String>) -> egui::RichText {
    egui::RichText::new(text)
        .text_style(egui::TextStyle::Small)
        .color(palette(ui).weak)
}

/// Weak text of ordinary size.
fn weak(ui: &Ui, text: impl Into<String>) -> egui::RichText {
    egui::RichText::new(text).color(palette(ui).weak)
}

/// Space at the left and right of a panel's content.
fn padded<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
    UiFrame::new()
        .inner_margin(Margin::symmetric(space::L as i8, space::S as i8))
        .show(ui, content)
        .inner
}
