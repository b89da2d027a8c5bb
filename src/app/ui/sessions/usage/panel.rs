//! The page: its head and choices, the chart and the table.

use crate::app::state::command::Commands;
use crate::app::state::sessions::list::{Sessions, SessionsCommand};
use crate::app::state::sessions::usage::command::UsageCommand;
use crate::app::state::sessions::usage::page::{UsagePage, UsageSums};
use crate::app::state::sessions::usage::text;
use crate::app::state::sessions::usage::view::{DayRange, UsageView};
use crate::app::ui::sessions::head;
use crate::app::ui::sessions::usage::{chart, controls, table};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::{small, weak};
use egui::{Frame, Margin, Panel, ProgressBar, RichText, Ui};

/// Height of the chart as a share of the height below the choices, and its limits in points.
const CHART: f32 = 0.36;
const CHART_HEIGHTS: [f32; 2] = [120.0, 280.0];

/// Shows the page.
pub(crate) fn show(ui: &mut Ui, sessions: &Sessions, commands: &mut Commands) {
    let page = &sessions.usage;
    head::show(ui, sessions, commands, |ui, commands| {
        if let Some(share) = page.progress().filter(|_| page.sums().is_some()) {
            if widgets::secondary_button(ui, "Stop", "").clicked() {
                commands.push(SessionsCommand::Usage(UsageCommand::Stop));
            }
            let bar = ProgressBar::new(share.0 as f32).fill(palette(ui).accent);
            ui.add(bar.desired_width(120.0).desired_height(8.0));
        }
    });
    if let Some(problem) = &page.problem {
        ui.label(RichText::new(problem).color(palette(ui).bad));
    }
    ui.add_space(space::S);
    let Some(sums) = page.sums() else {
        without_sums(ui, page, commands);
        return;
    };
    controls::show(ui, page, commands);
    if let Some(error) = &page.error {
        ui.label(RichText::new(error).color(palette(ui).bad));
    }
    ui.add_space(space::S);
    if sums.table.total.calls == 0 {
        without_calls(ui, page, commands);
        return;
    }
    remarks(ui, sums);
    let [least, most] = CHART_HEIGHTS;
    let height = (ui.available_height() * CHART).clamp(least, most).round();
    chart::show(ui, page, sums, height, commands);
    ui.add_space(space::M);
    table::show(ui, page, sums, commands);
}

/// Shows the progress of the first reading, or how to start it again.
fn without_sums(ui: &mut Ui, page: &UsagePage, commands: &mut Commands) {
    let mut ask = |command| commands.push(SessionsCommand::Usage(command));
    if let Some(share) = page.progress() {
        ui.label(weak(
            ui,
            "Reading all sessions. Those that have not changed since are faster next time.",
        ));
        ui.add_space(space::S);
        ui.horizontal(|ui| {
            let bar = ProgressBar::new(share.0 as f32).fill(palette(ui).accent);
            ui.add(bar.desired_width(280.0).desired_height(8.0));
            if widgets::secondary_button(ui, "Stop", "").clicked() {
                ask(UsageCommand::Stop);
            }
        });
    } else if page.is_stopped || page.problem.is_some() {
        if page.is_stopped {
            ui.label(weak(ui, "Stopped."));
            ui.add_space(space::S);
        }
        if widgets::secondary_button(ui, "Read the sessions", "").clicked() {
            ask(UsageCommand::Show);
        }
    } else {
        ui.label(weak(ui, "Adding up all calls…"));
    }
}

/// Explains why the table is empty.
fn without_calls(ui: &mut Ui, page: &UsagePage, commands: &mut Commands) {
    if page.view.days == DayRange::All {
        ui.label(weak(ui, "No session with a call was found here."));
        return;
    }
    ui.label(weak(ui, "No session has a call on these days."));
    ui.add_space(space::S);
    if widgets::secondary_button(ui, "Show all days", "").clicked() {
        let view = UsageView { days: DayRange::All, ..page.view.clone() };
        commands.push(SessionsCommand::Usage(UsageCommand::View(view)));
    }
}

/// Shows the remarks at the bottom.
fn remarks(ui: &mut Ui, sums: &UsageSums) {
    let remarks = text::remarks(&sums.table, sums.unread);
    if remarks.is_empty() {
        return;
    }
    let frame = Frame::new().inner_margin(Margin { left: 0, right: 0, top: 8, bottom: 0 });
    let panel = Panel::bottom("usage remarks").resizable(false).show_separator_line(false);
    panel.frame(frame).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(space::L, 2.0);
            for remark in remarks {
                ui.label(small(ui, remark));
            }
        });
    });
}
