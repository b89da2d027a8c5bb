//! The tab Insights: findings about the session and every lane, most severe first. One can be open.

use super::list::{self, InsightFilter, Row};
use super::row;
use crate::app::command::{Command, Spot};
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{palette, space};
use crate::app::widgets::text::{small, weak};
use crate::app::wording;
use egui::{Margin, RichText, ScrollArea, TextEdit, Ui};

/// Returns the number of listed insights, shown after the tab's name.
pub(in crate::app) fn remark(input: &PanelInput<'_>) -> String {
    let rows = list::all(input.insights, input.costs, input.losses);
    match rows.len() {
        0 => String::new(),
        n => wording::grouped(n as u64),
    }
}

/// Shows the filter and the severity levels at the right of the drawer's tabs, from right to left.
pub(in crate::app) fn tools(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().interact_size.y = 22.0;
    let rows = list::all(input.insights, input.costs, input.losses);
    let mut filter = input.view.insights.clone();
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
        let said = small(ui, format!("{name} {}", wording::grouped(n as u64)));
        let label = ui.selectable_label(filter.level == level, said);
        if label
            .accessible_name(format!("Show insights: {name}"))
            .clicked()
        {
            filter.level = level;
        }
    }
    if filter != input.view.insights {
        commands.push(Command::SetInsightFilter(filter));
    }
}

/// Shows all listed insights.
pub(in crate::app) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let all = list::all(input.insights, input.costs, input.losses);
    let filter = &input.view.insights;
    let is_listed = |row: &&Row<'_>| filter.has(row.insight, input.runs.label(row.lane));
    let rows: Vec<Row<'_>> = all.iter().filter(is_listed).copied().collect();
    if rows.is_empty() {
        empty_state(ui, input, commands);
        return;
    }
    let is_open = |row: &Row<'_>| Some(row.key()) == input.view.insight;
    let open = rows.iter().position(is_open).unwrap_or(0);
    ScrollArea::vertical()
        .id_salt(("insights", input.document.place))
        .auto_shrink(false)
        .show(ui, |ui| {
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
                crate::app::widgets::text::padded(ui, |ui| {
                    ui.label(small(ui, "Analyzing the session…"));
                });
            }
            ui.add_space(space::S);
        });
}

/// Opens an insight and selects its location in every panel.
fn look_at(row: &Row<'_>, commands: &mut Vec<Command>) {
    commands.push(Command::OpenInsight(row.key()));
    commands.push(Command::LookAt(Spot {
        lane: row.lane,
        step: row.insight.step,
        message: row.insight.message,
    }));
}

/// Explains why no insight is listed.
fn empty_state(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    crate::app::widgets::text::padded(ui, |ui| {
        if !input.view.insights.is_empty() {
            ui.horizontal(|ui| {
                ui.label(weak(ui, "No insight matches."));
                if ui.link("Show all").clicked() {
                    commands.push(Command::SetInsightFilter(InsightFilter::default()));
                }
            });
        } else if input.insights.is_none() || input.costs.is_none() {
            ui.label(weak(ui, "Analyzing the session…"));
        } else if input.document.session().calls.is_empty() {
            ui.label(weak(
                ui,
                "This file has no model calls, so there is nothing to analyze.",
            ));
        } else {
            let said =
                "No problems found: no threshold exceeded, few unused tokens, no failing policy.";
            ui.label(RichText::new(said).color(palette(ui).ok));
        }
    });
}
