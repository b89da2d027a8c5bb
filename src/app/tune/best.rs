//! The list of Pareto-optimal settings: no other setting is better in both cost and risk.

use super::command::TuneCommand;
use super::plot::{card, format_cost, peak_color};
use super::point_settings::settings;
use super::sweep::Sweep;
use crate::analysis::tune::{Point, RiskAxis};
use crate::app::command::Commands;
use crate::app::theme::{palette, space};
use crate::app::widgets::table::{Column, Table, lane_cell};
use crate::app::widgets::text::{padded, weak};
use crate::app::wording;
use egui::{RichText, Ui};
use egui_extras::Column as Width;

/// Shows the list, cheapest first. Returns the setting under the pointer.
pub(super) fn show(ui: &mut Ui, sweep: &Sweep, commands: &mut Commands) -> Option<usize> {
    if sweep.trade_off.is_empty() {
        padded(ui, |ui| {
            ui.label(weak(ui, "None of the tried settings works."));
        });
        return None;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut hovered = None;
    // The surrounding area scrolls the list together with the recommendation.
    let table = Table::new("tune best", columns(sweep.risk), sweep.trade_off.len()).unscrolled();
    let table = table.margins(0.0, space::S).row_height(space::ROW - 2.0);
    table.show(ui, |mut row| {
        let idx = sweep.trade_off[row.index()];
        let point = &sweep.points[idx];
        let Some(score) = &point.score else { return };
        row.select(is_recommended(sweep, idx));
        row.cells(|ui, column| match column {
            Col::Cost => drop(ui.label(format_cost(sweep.unit, sweep.unit.of(score)))),
            Col::Risk => {
                ui.label(if score.risk.is_judged() {
                    wording::grouped(score.risk.count() as u64)
                } else {
                    "–".to_owned()
                });
            }
            Col::Peak => {
                let color = peak_color(palette(ui), score.peak_share);
                ui.label(RichText::new(wording::percent(score.peak_share)).color(color));
            }
            Col::Settings => {
                let lane = Some(sweep.lanes[point.subject]);
                lane_cell(ui, lane, &differences(sweep, point));
            }
        });
        let response = row.response();
        if response.hovered() {
            hovered = Some(idx);
        }
        if response.clicked() {
            commands.push(TuneCommand::Apply(idx));
        }
        response.on_hover_ui(|ui| card(ui, sweep, idx));
    });
    hovered
}

/// A column of the list.
#[derive(Clone, Copy)]
enum Col {
    Cost,
    Risk,
    Peak,
    Settings,
}

fn columns(risk: RiskAxis) -> Vec<Column<'static, Col>> {
    let figure = |key, title, width, help: &str| {
        let column = Column::new(key, title, Width::exact(width));
        column.right().help(help.to_owned())
    };
    let axis = risk.axis_label();
    let risk_title = match risk {
        RiskAxis::References => "at risk",
        RiskAxis::Facts(_) => "lost",
    };
    vec![
        figure(Col::Cost, "cost", 62.0, "Cheapest first"),
        figure(Col::Risk, risk_title, 48.0, &axis),
        figure(Col::Peak, "peak", 48.0, "Share of the usable window"),
        Column::new(Col::Settings, "settings", Width::remainder().clip(true)).help(format!(
            "Differences from the current settings. No tried setting is both cheaper and lower in {axis}, except settings that fill more than 95 % of the usable window",
        )),
    ]
}

/// Returns the differences from the lane's current settings, such as `trigger 0.86, recent 27`. Shortens the names of
/// knobs to their last word for narrow columns; the hover text has the full names.
fn differences(sweep: &Sweep, point: &Point) -> String {
    let is_now = |other: &&Point| other.subject == point.subject && other.is_now;
    let now = sweep.points.iter().find(is_now);
    let now = now.map_or_else(Vec::new, |now| settings(sweep, now));
    let mut text: Vec<String> = settings(sweep, point)
        .into_iter()
        .filter(|setting| !now.contains(setting))
        .map(|(knob, value)| format!("{} {value}", knob.rsplit('_').next().unwrap_or(&knob)))
        .collect();
    if text.is_empty() {
        text.push("current settings".to_owned());
    }
    text.join(", ")
}

fn is_recommended(sweep: &Sweep, idx: usize) -> bool {
    let found = sweep.recommended.as_ref().and_then(|r| r.as_ref().ok());
    found.is_some_and(|found| found.point == idx)
}
