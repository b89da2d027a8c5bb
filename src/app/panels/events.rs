//! The tab Events: what every lane's policy did, when and why.

use super::{PanelInput, weak};
use crate::app::command::Command;
use crate::app::theme::{palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::engine::Event;
use egui::{Align, Label, Layout, Sense, Ui};
use egui_extras::{Column, TableBuilder};
use std::fmt::Write as _;

/// One event of one lane.
struct Line<'a> {
    lane: usize,
    event: &'a Event,
}

/// How many events there are is said by the lanes.
pub(super) fn remark(_input: &PanelInput<'_>) -> String {
    String::new()
}

/// Shows all lanes' events in the order of their calls.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let all = input.runs.lanes.iter().enumerate();
    let events = all.flat_map(|(lane, run)| {
        run.outcome
            .events
            .iter()
            .map(move |event| Line { lane, event })
    });
    let mut lines: Vec<Line<'_>> = events.collect();
    lines.sort_by_key(|line| (line.event.step, line.lane));
    if lines.is_empty() {
        super::padded(ui, |ui| {
            ui.label(weak(ui, "No policy acted: the context never reached a trigger. Lower compression_trigger to see one act."))
        });
        return;
    }
    let table = TableBuilder::new(ui)
        .id_salt("events")
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(space::S))
        .column(Column::initial(56.0))
        .column(Column::initial(130.0))
        .column(Column::initial(150.0))
        .column(Column::initial(170.0))
        .column(Column::initial(90.0))
        .column(Column::remainder().clip(true));
    let table = table.header(space::ROW, |mut row| {
        for title in ["", "call", "lane", "stage", "tokens", "messages", "why"] {
            row.col(|ui| {
                ui.label(super::small(ui, title));
            });
        }
    });
    table.body(|body| {
        body.rows(space::ROW, lines.len(), |mut row| {
            let line = &lines[row.index()];
            row.set_selected(line.event.step == input.selection.step);
            row.col(|_| {});
            cells(&mut row, input, line);
            if row.response().clicked() {
                commands.push(Command::SelectStep(line.event.step));
                commands.push(Command::FocusLane(Some(line.lane)));
            }
        });
    });
}

fn cells(row: &mut egui_extras::TableRow<'_, '_>, input: &PanelInput<'_>, line: &Line<'_>) {
    let event = line.event;
    row.col(|ui| {
        ui.label(wording::number(event.step));
    });
    row.col(|ui| {
        widgets::swatch(ui, palette(ui).lane(line.lane));
        ui.label(&input.runs.lanes[line.lane].policy.label);
    });
    row.col(|ui| {
        ui.label(&event.stage);
        ui.label(weak(ui, event.action));
    });
    row.col(|ui| {
        ui.label(format!(
            "{} → {}",
            wording::tokens(event.before),
            wording::tokens(event.after)
        ));
    });
    row.col(|ui| {
        ui.label(wording::grouped(event.n_messages() as u64));
    });
    row.col(|ui| {
        let why = why(event);
        ui.add(Label::new(weak(ui, &why)).truncate())
            .on_hover_text(why);
    });
}

/// The trigger with its quantities at that moment: `used >= … · used 126 004 · trigger 126 000`.
fn why(event: &Event) -> String {
    let mut why = event.cause.when.clone();
    for (name, value) in &event.cause.terms {
        why.push_str(" · ");
        why.push_str(name);
        why.push(' ');
        why.push_str(&wording::quantity(*value));
    }
    if let Some((sent, received)) = event.request {
        let (sent, back) = (wording::short(sent), wording::short(received));
        let _ = write!(why, " · asked for a summary: {sent} sent, {back} back");
    }
    why
}
