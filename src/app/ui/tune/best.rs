//! The list of Pareto-optimal settings: no other setting is better in both cost with expected re-reads and peak.

use crate::analysis::tune::Point;
use crate::app::state::command::Commands;
use crate::app::state::tune::command::TuneCommand;
use crate::app::state::tune::sweep::Sweep;
use crate::app::state::wording;
use crate::app::ui::theme::{Palette, palette, space};
use crate::app::ui::tune::plot::{card, format_cost};
use crate::app::ui::tune::point_settings::settings;
use crate::app::ui::widgets::table::{Column, Table, lane_cell};
use crate::app::ui::widgets::text::{padded, weak};
use crate::units::Share;
use egui::{Color32, RichText, Ui};
use egui_extras::Column as Width;

/// Shows the list, cheapest first. Returns the setting under the pointer.
pub(crate) fn show(ui: &mut Ui, sweep: &Sweep, commands: &mut Commands) -> Option<usize> {
    if sweep.trade_off.is_empty() {
        padded(ui, |ui| {
            ui.label(weak(ui, "None of the tried settings works."));
        });
        return None;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut hovered = None;
    // The surrounding area scrolls the list together with the recommendation.
    let table = Table::new("tune best", columns(), sweep.trade_off.len()).unscrolled();
    let table = table.margins(0.0, space::S).row_height(space::ROW - 2.0);
    table.show(ui, |mut row| {
        let idx = sweep.trade_off[row.index()];
        let point = &sweep.points[idx];
        let Some(score) = &point.score else { return };
        row.select(is_recommended(sweep, idx));
        row.cells(|ui, column| match column {
            Col::Cost => drop(ui.label(format_cost(sweep.unit, sweep.unit.of(score)))),
            Col::Rereads => drop(ui.label(score.rereads.number())),
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
    Rereads,
    Peak,
    Settings,
}

fn columns() -> Vec<Column<'static, Col>> {
    let figure = |key, title, width, help| {
        let column = Column::new(key, title, Width::exact(width));
        column.right().help(help)
    };
    vec![
        figure(
            Col::Cost,
            "cost",
            62.0,
            "With the price of expected re-reads, cheapest first",
        ),
        figure(
            Col::Rereads,
            "re-reads",
            54.0,
            "Expected number of files that the agent reads again because their content left the context",
        ),
        figure(Col::Peak, "peak", 48.0, "Share of the usable window"),
        Column::new(Col::Settings, "settings", Width::remainder().clip(true)).help(
            "Differences from the current settings. No tried setting is both cheaper and lower in its peak",
        ),
    ]
}

/// Peak fill thresholds of the color scale, as shares of the usable window.
const PEAKS: [f64; 3] = [0.6, 0.85, 1.0];

/// Returns the color of a peak: green well below the usable window, amber near it, red above.
fn peak_color(palette: &Palette, peak: Share) -> Color32 {
    let [fine, near, beyond] = PEAKS;
    if peak.0 <= near {
        let share = ((peak.0 - fine) / (near - fine)).clamp(0.0, 1.0);
        palette.ok.lerp_to_gamma(palette.warn, share as f32)
    } else {
        let share = ((peak.0 - near) / (beyond - near)).clamp(0.0, 1.0);
        palette.warn.lerp_to_gamma(palette.bad, share as f32)
    }
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
