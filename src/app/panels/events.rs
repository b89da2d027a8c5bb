//! The tab Events: what every lane's policy did, when and why.

use super::{PanelInput, weak};
use crate::app::command::Command;
use crate::app::theme::{palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::engine::Event;
use egui::{Align, Label, Layout, Sense, Ui};
use egui_extras::{Column, TableBuilder, TableRow};
use std::fmt::Write as _;

/// The lanes say how many events there are.
pub(super) fn remark(_input: &PanelInput<'_>) -> String {
    String::new()
}

/// Shows all lanes' events in the order of their calls.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let lines = &input.runs.events;
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
        .column(Column::exact(48.0))
        .column(Column::initial(104.0).clip(true))
        .column(Column::initial(120.0).clip(true))
        .column(Column::exact(72.0))
        .column(Column::exact(72.0))
        .column(Column::exact(72.0))
        .column(Column::remainder().clip(true));
    let table = table.header(space::ROW, |mut row| {
        row.col(|_| {});
        for (title, layout) in [
            ("call", Side::Right),
            ("lane", Side::Left),
            ("what", Side::Left),
            ("before", Side::Right),
            ("after", Side::Right),
            ("messages", Side::Right),
            ("why", Side::Left),
        ] {
            column(&mut row, layout, |ui| {
                ui.label(super::small(ui, title));
            });
        }
    });
    table.body(|body| {
        body.rows(space::ROW, lines.len(), |mut row| {
            let (lane, event) = lines[row.index()];
            let event = &input.runs.lanes[lane].outcome.events[event];
            row.set_selected(event.step == input.selection.step);
            row.col(|_| {});
            cells(&mut row, input, lane, event);
            if row.response().clicked() {
                commands.push(Command::SelectStep(event.step));
                commands.push(Command::FocusLane(Some(lane)));
            }
        });
    });
}

/// Where the content of a column begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A cell; what begins at the left is set apart from figures that end there.
fn column(row: &mut TableRow<'_, '_>, side: Side, content: impl FnOnce(&mut Ui)) {
    let layout = match side {
        Side::Left => Layout::left_to_right(Align::Center),
        Side::Right => Layout::right_to_left(Align::Center),
    };
    row.col(|ui| {
        ui.with_layout(layout, |ui| {
            if side == Side::Left {
                ui.add_space(space::S);
            }
            content(ui);
        });
    });
}

fn cells(row: &mut TableRow<'_, '_>, input: &PanelInput<'_>, lane: usize, event: &Event) {
    column(row, Side::Right, |ui| {
        ui.label(weak(ui, wording::number(event.step)));
    });
    column(row, Side::Left, |ui| {
        widgets::swatch(ui, palette(ui).lane(lane));
        ui.label(&input.runs.labels[lane]);
    });
    column(row, Side::Left, |ui| {
        ui.label(event.action);
        // A stage that is named after what it does says nothing new.
        if event.stage != event.action {
            ui.label(weak(ui, &event.stage));
        }
    });
    for figure in [event.before, event.after] {
        column(row, Side::Right, |ui| {
            ui.label(wording::tokens(figure));
        });
    }
    column(row, Side::Right, |ui| {
        ui.label(wording::grouped(event.n_messages() as u64));
    });
    column(row, Side::Left, |ui| {
        ui.add(Label::new(weak(ui, why(event))).truncate())
            .on_hover_ui(|ui| {
                ui.label(format!("{}\n{}", event.cause.when, terms(event)));
            });
    });
}

/// Why it acted, with the quantities in the place of their names: `used 130 212 >= trigger 126 000`.
fn why(event: &Event) -> String {
    let mut why = filled_in(event);
    if let Some((sent, received)) = event.request {
        let (sent, back) = (wording::short(sent), wording::short(received));
        let _ = write!(why, " · asked for a summary: {sent} sent, {back} back");
    }
    why
}

/// The trigger as it is written, each name followed by its value.
fn filled_in(event: &Event) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        out.push_str(word);
        let value = event.cause.terms.iter().find(|(name, _)| name == word);
        if let Some((_, value)) = value {
            let _ = write!(out, " {}", wording::quantity(*value));
        }
        word.clear();
    };
    for c in event.cause.when.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            flush(&mut word, &mut out);
            out.push(c);
        }
    }
    flush(&mut word, &mut out);
    out.replace(">=", "≥").replace("<=", "≤")
}

/// The quantities, one a line.
fn terms(event: &Event) -> String {
    let said = |(name, value): &(String, f64)| format!("{name} {}", wording::quantity(*value));
    let all: Vec<_> = event.cause.terms.iter().map(said).collect();
    all.join("\n")
}
