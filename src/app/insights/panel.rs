//! The tab Insights: insights into the session and every lane, most severe first. One can be open.

use super::input::InsightsInput;
use super::list::{self, InsightFilter, Row};
use super::row;
use crate::app::command::Commands;
use crate::app::selection::{SelectCommand, Spot};
use crate::app::shell::open_session::OpenSession;
use crate::app::theme::{palette, space};
use crate::app::view::ViewCommand;
use crate::app::widgets::text::{padded, small, weak};
use crate::app::wording;
use egui::{Margin, RichText, ScrollArea, TextEdit, Ui};

/// Returns the number of listed insights, shown after the tab's name.
pub(in crate::app) fn remark(session: &OpenSession<'_>) -> String {
    let input = &InsightsInput::new(session);
    let rows = list::all(input.insights, input.costs, input.losses);
    match rows.len() {
        0 => String::new(),
        n => wording::grouped(n as u64),
    }
}

/// Shows the filter and the severity levels at the right of the drawer's tabs, from right to left.
pub(in crate::app) fn controls(ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
    let input = &InsightsInput::new(session);
    ui.spacing_mut().interact_size.y = 22.0;
    let rows = list::all(input.insights, input.costs, input.losses);
    let mut filter = input.view.filter.clone();
    let edit = TextEdit::singleline(&mut filter.text)
        .hint_text("Filter…")
        .desired_width(110.0)
        .margin(Margin::symmetric(6, 3));
    let response = ui
        .add(edit)
        .on_hover_text("Show insights that contain this text")
        .accessible_name("Filter insights");
    if response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Escape)) {
        filter.text.clear();
    }
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let counts = list::counts(&rows);
    let levels = counts.iter().map(|(level, n)| (Some(*level), *n));
    let levels: Vec<_> = std::iter::once((None, rows.len())).chain(levels).collect();
    for (level, n) in levels.into_iter().rev() {
        let name = level.map_or("all", wording::level);
        let text = small(ui, format!("{name} {}", wording::grouped(n as u64)));
        let label = ui.selectable_label(filter.level == level, text);
        if label.accessible_name(format!("Show insights: {name}")).clicked() {
            filter.level = level;
        }
    }
    if filter != input.view.filter {
        commands.push(ViewCommand::InsightFilter(filter));
    }
}

/// Shows all listed insights.
pub(in crate::app) fn show(ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
    let input = &InsightsInput::new(session);
    let all = list::all(input.insights, input.costs, input.losses);
    let filter = &input.view.filter;
    let is_listed = |row: &&Row<'_>| filter.has(row.insight, input.runs.label(row.lane));
    let rows: Vec<Row<'_>> = all.iter().filter(is_listed).copied().collect();
    if rows.is_empty() {
        empty_state(ui, input, commands);
        return;
    }
    let is_open = |row: &Row<'_>| Some(row.key()) == input.view.open;
    let open = rows.iter().position(is_open).unwrap_or(0);
    ScrollArea::vertical().id_salt(("insights", input.document.source_id)).auto_shrink(false).show(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add_space(space::XS);
            for (idx, row) in rows.iter().enumerate() {
                let shown = row::show(ui, input, row, idx == open, commands);
                if idx == open && input.once.reveals_insight {
                    ui.scroll_to_rect(shown.rect, None);
                }
                if shown.clicked() {
                    look_at(row, commands);
                }
            }
            if input.insights.is_none() {
                ui.add_space(space::S);
                padded(ui, |ui| {
                    ui.label(small(ui, "Analyzing the session…"));
                });
            }
            ui.add_space(space::S);
        },
    );
}

/// Opens an insight and selects its location in every panel.
fn look_at(row: &Row<'_>, commands: &mut Commands) {
    commands.push(ViewCommand::OpenInsight(row.key()));
    commands.push(SelectCommand::Spot(Spot {
        lane: row.lane,
        call: row.insight.call,
        message: row.insight.message,
    }));
}

/// Explains why no insight is listed.
fn empty_state(ui: &mut Ui, input: &InsightsInput<'_>, commands: &mut Commands) {
    padded(ui, |ui| {
        if !input.view.filter.is_empty() {
            ui.horizontal(|ui| {
                ui.label(weak(ui, "No insight matches."));
                if ui.link("Show all").clicked() {
                    commands.push(ViewCommand::InsightFilter(InsightFilter::default()));
                }
            });
        } else if input.insights.is_none() || input.costs.is_none() {
            ui.label(weak(ui, "Analyzing the session…"));
        } else if input.document.session().calls.is_empty() {
            ui.label(weak(ui, "This file has no model calls, so there is nothing to analyze."));
        } else {
            let text =
                "No problems found: no threshold exceeded, few unused tokens, no failing policy.";
            ui.label(RichText::new(text).color(palette(ui).ok));
        }
    });
}
