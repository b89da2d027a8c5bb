//! Break-even of each compaction, as recorded and in every lane: the number of later calls after which it pays off.

use super::compute::Costs;
use super::panel::sum;
use super::state;
use crate::analysis::cost::BreakEven;
use crate::app::command::{Command, Spot};
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{palette, space};
use crate::app::widgets::table::{Side, cell, head, number_column};
use crate::app::widgets::text::weak;
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use egui::{Align, Label, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

/// Columns of figures: title, hover text, and the minimum table width at which the column is shown (points).
static HEADS: [(&str, &str, f32); 6] = [
    ("removed", "Tokens that later calls no longer send", 0.0),
    (
        "rewritten",
        "Cached tokens that this call writes to the cache again",
        0.0,
    ),
    (
        "costs once",
        "Cost of rewriting the cache and of the summary",
        620.0,
    ),
    ("saves per call", "Savings at each later call", 620.0),
    (
        "pays after",
        "Number of calls after which it has paid off",
        0.0,
    ),
    (
        "calls left",
        "Calls from here to the end of the session",
        560.0,
    ),
];

/// Shows the table.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    costs: &Costs,
    commands: &mut Vec<Command>,
) {
    let rows = state::compactions(costs);
    if rows.is_empty() {
        crate::app::widgets::text::padded(ui, |ui| {
            let said = "No lane removed content that had been sent before, so there is no compaction to pay off.";
            ui.label(weak(ui, said));
        });
        return;
    }
    let width = ui.available_width();
    let shown: Vec<usize> = (0..HEADS.len()).filter(|i| width >= HEADS[*i].2).collect();
    let mut table = TableBuilder::new(ui)
        .id_salt(("cost compactions", shown.len()))
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(space::S))
        .column(number_column(input.runs.case.session.calls.len()))
        .column(Column::initial(116.0).at_least(60.0).clip(true));
    for _ in &shown {
        table = table.column(Column::exact(76.0));
    }
    let table = table
        .column(Column::remainder().clip(true))
        .header(space::ROW, |mut row| {
            row.col(|_| {});
            cell(&mut row, Side::Right, |ui| head(ui, "call", ""));
            cell(&mut row, Side::Left, |ui| head(ui, "lane", ""));
            for (title, help, _) in shown.iter().map(|i| HEADS[*i]) {
                cell(&mut row, Side::Right, |ui| head(ui, title, help));
            }
            cell(&mut row, Side::Left, |ui| head(ui, "paid off?", ""));
        });
    table.body(|body| {
        body.rows(space::ROW, rows.len(), |mut row| {
            let (lane, idx) = rows[row.index()];
            let found = costs.of(lane).and_then(|cost| cost.break_even.get(idx));
            let Some(even) = found else { return };
            let is_here = lane == input.selection.lane && even.step == input.selection.step;
            row.set_selected(is_here);
            cells(&mut row, input, (lane, even), &shown);
            if row.response().clicked() {
                commands.push(Command::LookAt(Spot {
                    lane,
                    step: Some(even.step),
                    message: None,
                }));
            }
        });
    });
}

fn cells(
    row: &mut TableRow<'_, '_>,
    input: &PanelInput<'_>,
    (lane, even): (Option<usize>, &BreakEven),
    shown: &[usize],
) {
    row.col(|_| {});
    cell(row, Side::Right, |ui| {
        ui.label(weak(ui, wording::number(even.step)));
    });
    cell(row, Side::Left, |ui| {
        let color = palette(ui).lane_or_recorded(lane);
        widgets::swatch(ui, color);
        ui.add(Label::new(input.runs.label(lane)).truncate());
    });
    for figure in shown {
        cell(row, Side::Right, |ui| match figure {
            0 => drop(ui.label(wording::tokens(even.removed))),
            1 => drop(ui.label(wording::tokens(even.rewritten))),
            2 => drop(sum(ui, even.once, Tone::Plain)),
            3 => drop(sum(ui, even.per_call, Tone::Plain)),
            4 => drop(ui.label(needed(even))),
            _ => drop(ui.label(weak(ui, wording::grouped(even.left as u64)))),
        });
    }
    cell(row, Side::Left, |ui| {
        let (said, tone) = paid(even);
        let text = RichText::new(said).color(tone.color(palette(ui)));
        ui.add(Label::new(text).truncate()).on_hover_ui(|ui| {
            ui.label(remarks(even));
        });
    });
}

fn needed(even: &BreakEven) -> String {
    match even.needed {
        Some(0) => "immediately".to_owned(),
        Some(calls) => wording::grouped(calls),
        None => "–".to_owned(),
    }
}

fn paid(even: &BreakEven) -> (&'static str, Tone) {
    match even.has_paid() {
        Some(true) => ("yes", Tone::Ok),
        Some(false) => ("no", Tone::Warn),
        None => ("unknown", Tone::Weak),
    }
}

/// Returns remarks on a compaction's figures.
fn remarks(even: &BreakEven) -> String {
    let mut said = format!("By {}.", even.stages.join(", "));
    if even.is_cold {
        said.push_str(" The cache was empty, so rewriting it costs nothing extra.");
    }
    if !even.knows_summary {
        said.push_str(" The summary's cost is not recorded and not included.");
    }
    if even.once.is_none() {
        said.push_str(" No price is known.");
    }
    said
}
