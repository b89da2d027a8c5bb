//! The drawer at the bottom of the window: its tabs, their controls and the content of the selected tab.

use crate::app::shell::drawer_tabs::{DRAWER_TABS, tab_of, tabs};
use crate::app::state::command::Commands;
use crate::app::state::model::tab::Tab;
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets;
use egui::{Align, Frame, Id, Layout, Margin, Ui, UiBuilder, vec2};

/// Shows the tabs and the content of the selected tab.
pub(crate) fn show(ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
    // The content is laid out in a child `Ui` so that it cannot change the drawer's height.
    let rect = ui.available_rect_before_wrap();
    ui.advance_cursor_after_rect(rect);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(rect));
    let ui = &mut ui;
    ui.set_clip_rect(rect.intersect(ui.clip_rect()));
    let tab = session.view.tab;
    ui.spacing_mut().item_spacing.y = 0.0;
    let header = Frame::new().inner_margin(Margin::symmetric(16, 0));
    header.show(ui, |ui| tab_row(ui, session, tab, commands));
    full_hairline(ui);
    let below = ui.available_rect_before_wrap();
    let mut content = ui.new_child(UiBuilder::new().max_rect(below));
    content.set_clip_rect(below.intersect(ui.clip_rect()));
    tab_of(tab).show(&mut content, session, commands);
}

/// Shows the tabs and the controls of the selected tab at their right, or in a row of their own if they do not fit.
fn tab_row(ui: &mut Ui, session: &OpenSession<'_>, tab: Tab, commands: &mut Commands) {
    let id = Id::unique(("controls of tab", tab.key));
    let needed: f32 = ui.data(|d| d.get_temp(id)).unwrap_or(0.0);
    let mut is_below = false;
    ui.horizontal(|ui| {
        let remarks: Vec<String> = DRAWER_TABS.iter().map(|tab| tab.remark(session)).collect();
        let names: Vec<_> =
            tabs().zip(&remarks).map(|(tab, remark)| (tab.label, remark.as_str())).collect();
        let chosen = tabs().position(|it| it == tab).unwrap_or(0);
        if let Some(clicked) = widgets::tabs(ui, &names, chosen) {
            commands.push(ShellCommand::ShowTab(DRAWER_TABS[clicked].tab()));
        }
        is_below = needed > ui.available_width();
        if !is_below {
            controls(ui, session, tab, commands);
        }
    });
    if is_below {
        let size = vec2(ui.available_width(), CONTROLS_HEIGHT);
        ui.allocate_ui(size, |ui| controls(ui, session, tab, commands));
    }
}

/// Height of a separate row of controls, in points.
const CONTROLS_HEIGHT: f32 = 30.0;

/// Shows the controls of a tab from right to left and stores their width.
fn controls(ui: &mut Ui, session: &OpenSession<'_>, tab: Tab, commands: &mut Commands) {
    let id = Id::unique(("controls of tab", tab.key));
    let beside = ui.available_rect_before_wrap();
    let shown = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        tab_of(tab).controls(ui, session, commands);
        ui.min_rect().left()
    });
    let (taken, room) = (beside.right() - shown.inner, beside.width());
    let before: f32 = ui.data(|d| d.get_temp(id)).unwrap_or(0.0);
    if (taken - before).abs() > 0.5 {
        ui.data_mut(|d| d.insert_temp(id, taken));
        if taken > room {
            ui.ctx().request_discard("the width of the controls is known only after layout");
        }
    }
}

/// Draws a separator across the whole panel.
fn full_hairline(ui: &mut Ui) {
    let (rect, _) =
        ui.allocate_exact_size(egui::vec2(ui.available_width(), 1.0), egui::Sense::hover());
    ui.painter().hline(rect.x_range(), rect.center().y, palette(ui).line());
}
