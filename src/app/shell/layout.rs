//! The layout of the panels of an open session.

use crate::app::shell::drawer;
use crate::app::state::command::Commands;
use crate::app::state::open::opening::Opening;
use crate::app::state::open_session::OpenSession;
use crate::app::ui::theme::palette;
use crate::app::ui::verdict;
use crate::app::ui::widgets::resizable_panel::{Edge, ResizablePanel, Side};
use egui::{CentralPanel, Frame as UiFrame, Margin, Panel, Rangef, Ui};

/// Shows all panels of an open session.
pub(crate) fn show_all(
    ui: &mut Ui,
    session: &OpenSession<'_>,
    opening: &Opening<'_>,
    commands: &mut Commands,
) {
    let palette = palette(ui);
    let plain = UiFrame::new().fill(palette.panel);
    let dark = UiFrame::new().fill(palette.background);
    let height = ui.available_height();
    Panel::top("verdict").frame(plain.inner_margin(Margin::symmetric(16, 8))).show(ui, |ui| {
        verdict::show(ui, session, opening, commands);
    });
    let [lanes, drawer, settings] = place_panels(ui, session, height);
    let ((mut lanes, lanes_edge), (mut drawer, drawer_edge)) = (lanes, drawer);
    let (mut settings, settings_edge) = settings;
    CentralPanel::no_frame()
        .frame(dark.inner_margin(Margin { left: 12, right: 4, top: 6, bottom: 2 }))
        .show(ui, |ui| {
            crate::app::ui::timeline::panel::show(ui, session, commands);
        });
    crate::app::ui::lanes::panel::show(&mut lanes, session, commands);
    drawer::show(&mut drawer, session, commands);
    crate::app::ui::settings_panel::panel::show(&mut settings, session, commands);
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
/// Id of the settings panel.
pub(crate) const SETTINGS: &str = "settings";

/// Places lanes, drawer and settings from the outside inwards. The caller shows them in the order of keyboard focus. By
/// default lanes and drawer take shares of the height, so a small window keeps the proportions. The timeline always
/// keeps its minimum height, even if the other panels were resized in a larger window.
fn place_panels(ui: &mut Ui, session: &OpenSession<'_>, height: f32) -> [(Ui, Edge); 3] {
    let palette = palette(ui);
    let plain = UiFrame::new().fill(palette.panel);
    let width = ui.available_width();
    let is_narrow = width < NARROW;
    let settings = ResizablePanel {
        name: SETTINGS,
        side: Side::Right,
        usual: 292.0,
        range: Rangef::new(248.0, 420.0),
        frame: plain.inner_margin(Margin::symmetric(16, 12)),
    };
    let room = |ui: &Ui, above: f32, least: f32| (ui.available_height() - above).max(least);
    let least_lanes =
        crate::app::ui::lanes::panel::least_height(ui, session, width - settings.extent(ui));
    // All tabs share one height, so that the tab row does not move under the pointer.
    let drawer = ResizablePanel {
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
    let lanes = ResizablePanel {
        name: "lanes",
        side: Side::Bottom,
        usual: (height * SHARE).round(),
        range: Rangef::new(least_lanes, room(ui, TIMELINE, least_lanes)),
        frame: UiFrame::new().fill(palette.background),
    };
    [lanes.place(ui), drawer, settings]
}
