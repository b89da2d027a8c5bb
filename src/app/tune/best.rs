//! The list of Pareto-optimal settings: no other setting is better in both cost and references at risk.

use super::panel::settings;
use super::plot::{card, format_cost, peak_color};
use super::sweep::Tuning;
use crate::analysis::tune::Point;
use crate::app::command::Command;
use crate::app::theme::{palette, space};
use crate::app::widgets::table::{Side, cell, head};
use crate::app::widgets::text::weak;
use crate::app::{widgets, wording};
use egui::{Align, Label, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

/// Shows the list, cheapest first. Returns the setting under the pointer.
pub(in crate::app) fn show(
    ui: &mut Ui,
    tuning: &Tuning,
    commands: &mut Vec<Command>,
) -> Option<usize> {
    if tuning.trade_off.is_empty() {
        crate::app::widgets::text::padded(ui, |ui| {
            ui.label(weak(ui, "None of the tried settings works."));
        });
        return None;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut hovered = None;
    let table = TableBuilder::new(ui)
        .id_salt("tune best")
        .sense(Sense::CLICK)
        // The surrounding area scrolls the list together with the recommendation.
        .vscroll(false)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(62.0))
        .column(Column::exact(48.0))
        .column(Column::exact(48.0))
        .column(Column::remainder().clip(true))
        .column(Column::exact(space::S));
    let table = table.header(space::ROW, |mut row| {
        cell(&mut row, Side::Right, |ui| {
            head(ui, "cost", "Cheapest first");
        });
        cell(&mut row, Side::Right, |ui| {
            head(ui, "at risk", "References at risk");
        });
        cell(&mut row, Side::Right, |ui| {
            head(ui, "peak", "Share of the usable window");
        });
        cell(&mut row, Side::Left, |ui| {
            head(
                ui,
                "settings",
                "Differences from the current settings. No tried setting is both cheaper and lower in references at risk, except settings that fill more than 95 % of the usable window",
            );
        });
        row.col(|_| {});
    });
    table.body(|body| {
        body.rows(space::ROW - 2.0, tuning.trade_off.len(), |mut row| {
            let idx = tuning.trade_off[row.index()];
            let point = &tuning.points[idx];
            let Some(score) = &point.score else { return };
            row.set_selected(is_recommended(tuning, idx));
            cell(&mut row, Side::Right, |ui| {
                ui.label(format_cost(tuning.unit, tuning.unit.of(score)));
            });
            cell(&mut row, Side::Right, |ui| {
                ui.label(wording::grouped(score.risk.references as u64));
            });
            cell(&mut row, Side::Right, |ui| {
                let color = peak_color(palette(ui), score.peak_share);
                ui.label(RichText::new(wording::percent(score.peak_share)).color(color));
            });
            cell(&mut row, Side::Left, |ui| {
                widgets::swatch(ui, palette(ui).lane(tuning.lanes[point.subject]));
                ui.add(Label::new(differences(tuning, point)).truncate());
            });
            row.col(|_| {});
            let response = row.response();
            if response.hovered() {
                hovered = Some(idx);
            }
            if response.clicked() {
                commands.push(Command::AdoptPoint(idx));
            }
            response.on_hover_ui(|ui| card(ui, tuning, idx));
        });
    });
    hovered
}

/// Returns the differences from the lane's current settings, such as `trigger 0.86, recent 27`. Shortens the names of
/// knobs to their last word for narrow columns; the hover text has the full names.
fn differences(tuning: &Tuning, point: &Point) -> String {
    let is_now = |other: &&Point| other.subject == point.subject && other.is_now;
    let now = tuning.points.iter().find(is_now);
    let now = now.map_or_else(Vec::new, |now| settings(tuning, now));
    let mut said: Vec<String> = settings(tuning, point)
        .into_iter()
        .filter(|setting| !now.contains(setting))
        .map(|(knob, value)| format!("{} {value}", knob.rsplit('_').next().unwrap_or(&knob)))
        .collect();
    if said.is_empty() {
        said.push("current settings".to_owned());
    }
    said.join(", ")
}

fn is_recommended(tuning: &Tuning, idx: usize) -> bool {
    let found = tuning.recommended.as_ref().and_then(|r| r.as_ref().ok());
    found.is_some_and(|found| found.point == idx)
}
