//! References at risk of every lane, with the noise floor in the first row.

use super::compute::{LaneLoss, Losses};
use super::state::{at_risk_said, blind_tone, risk_tone};
use crate::app::command::Command;
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{self, palette, space};
use crate::app::widgets::table::{Side, cell, head, notes_below};
use crate::app::widgets::text::{small, weak};
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use egui::{Align, Label, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

/// Columns of figures: title, hover text, width, and the minimum table width at which the column is shown (points).
static HEADS: [(&str, &str, f32, f32); 5] = [
    (
        "at risk",
        "References by the recorded agent to content that the lane had removed. If there are two numbers, predicted summaries may contain the difference",
        56.0,
        0.0,
    ),
    (
        "blind edits",
        "Edits whose original text had been removed, so the agent could not have written them",
        66.0,
        0.0,
    ),
    (
        "from call",
        "First call with a reference at risk or a blind edit. Until then the lane had every name that the agent used",
        56.0,
        300.0,
    ),
    (
        "re-read",
        "Tokens of the removed messages that the agent would have to read again",
        52.0,
        380.0,
    ),
    (
        "saved",
        "Unsent tokens relative to the lossless maximum. A lane that removes referenced content can exceed 100 %",
        48.0,
        420.0,
    ),
];

/// Shows the table and its note.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    losses: &Losses,
    commands: &mut Vec<Command>,
) {
    let note = note(losses);
    notes_below(ui, "loss notes", std::slice::from_ref(&note));
    ui.spacing_mut().item_spacing.y = 0.0;
    let width = ui.available_width();
    let shown: Vec<usize> = (0..HEADS.len()).filter(|i| width >= HEADS[*i].3).collect();
    let rows: Vec<(Option<usize>, &LaneLoss)> = losses.all().collect();
    let mut table = TableBuilder::new(ui)
        .id_salt(("loss lanes", shown.len()))
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(space::S))
        .column(Column::remainder().at_least(72.0).clip(true));
    for i in &shown {
        table = table.column(Column::exact(HEADS[*i].2));
    }
    let table = table
        .column(Column::exact(space::S))
        .header(space::ROW, |mut row| {
            row.col(|_| {});
            cell(&mut row, Side::Left, |ui| head(ui, "lane", &note));
            for i in &shown {
                cell(&mut row, Side::Right, |ui| {
                    head(ui, HEADS[*i].0, HEADS[*i].1);
                });
            }
            row.col(|_| {});
        });
    table.body(|body| {
        body.rows(space::ROW, rows.len(), |mut row| {
            let (lane, loss) = rows[row.index()];
            row.set_selected(lane == input.selection.lane);
            row.col(|_| {});
            name(&mut row, input, lane);
            for i in &shown {
                cell(&mut row, Side::Right, |ui| {
                    figure(ui, (lane, loss), losses, *i);
                });
            }
            row.col(|_| {});
            if row.response().clicked() {
                commands.push(Command::FocusLane(lane));
            }
        });
    });
}

fn name(row: &mut TableRow<'_, '_>, input: &PanelInput<'_>, lane: Option<usize>) {
    cell(row, Side::Left, |ui| {
        let color = palette(ui).lane_or_recorded(lane);
        widgets::swatch(ui, color);
        let name = input.runs.label(lane);
        ui.add(Label::new(name).truncate());
        if lane.is_none() && ui.available_width() > 60.0 {
            ui.label(small(ui, "noise floor")).on_hover_text(
                "References at risk in the recorded calls: names that the agent derived, guessed or read elsewhere",
            );
        }
    });
}

fn figure(ui: &mut Ui, (lane, loss): (Option<usize>, &LaneLoss), losses: &Losses, figure: usize) {
    let at_risk = &loss.found.at_risk;
    match figure {
        0 => {
            let tone = lane.map_or(Tone::Weak, |_| risk_tone(loss, &losses.recorded));
            let said = RichText::new(at_risk_said(loss)).text_style(theme::strong());
            let of = wording::count(at_risk.uses, "reference");
            ui.label(said.color(tone.color(palette(ui))))
                .on_hover_text(format!("of {of} to earlier content"));
        }
        1 => {
            let tone = lane.map_or(Tone::Weak, |_| blind_tone(loss, &losses.recorded));
            let said = RichText::new(wording::grouped(at_risk.blind_edits.len() as u64));
            let of = wording::count(at_risk.edits, "edit");
            ui.label(said.color(tone.color(palette(ui))))
                .on_hover_text(format!("of {of} with known original text"));
        }
        2 => {
            let said = at_risk
                .horizon
                .map_or_else(|| "–".to_owned(), wording::number);
            ui.label(weak(ui, said));
        }
        3 => {
            ui.label(weak(ui, wording::short(at_risk.refetch)));
        }
        _ => {
            let said = loss.saved.map_or_else(|| "–".to_owned(), wording::percent);
            ui.label(weak(ui, said));
        }
    }
}

/// Returns the note on how the figures are determined.
fn note(losses: &Losses) -> String {
    let names = wording::count(losses.names.len(), "name");
    format!(
        "Based on {names} that the agent used again: paths, symbols, hashes, numbers. Not a quality score; compare with the noise floor."
    )
}
