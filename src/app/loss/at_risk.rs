//! References at risk in the focused lane: blind edits first, then names, each with the call that used it.

use super::compute::Losses;
use super::state::{Missed, missed, n_missed};
use crate::app::command::{Command, Spot};
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{palette, space};
use crate::app::widgets::table::{Side, cell, head};
use crate::app::widgets::text::weak;
use crate::app::{widgets, wording};
use crate::safe_text;
use egui::{Align, Id, Label, Layout, RichText, Sense, TextStyle, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

/// Maximum length of a name, in characters.
const LONGEST: usize = 80;

/// Shows the list.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    losses: &Losses,
    commands: &mut Vec<Command>,
) {
    let lane = input.selection.lane;
    let Some(loss) = losses.of(lane) else {
        return;
    };
    let n = n_missed(loss);
    if n == 0 {
        empty_state(ui, input, losses, lane);
        return;
    }
    let has_room = ui.available_width() > 520.0;
    let first = reveal(ui, input, losses, lane);
    let mut table = TableBuilder::new(ui)
        .id_salt(("loss list", has_room))
        .striped(true)
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(52.0))
        .column(Column::remainder().at_least(80.0).clip(true))
        .column(
            Column::initial(if has_room { 130.0 } else { 96.0 })
                .at_least(40.0)
                .clip(true),
        )
        .column(
            Column::initial(if has_room { 190.0 } else { 110.0 })
                .at_least(40.0)
                .clip(true),
        );
    if has_room {
        table = table.column(Column::exact(60.0));
    }
    table = table.column(Column::exact(space::S));
    if let Some(row) = first {
        table = table.scroll_to_row(row, None).animate_scrolling(false);
    }
    let table = table.header(space::ROW, |mut row| {
        cell(&mut row, Side::Right, |ui| {
            head(ui, "call", "The call whose answer used the reference");
        });
        cell(&mut row, Side::Left, |ui| {
            head(ui, "at risk", "The name or the edited text");
        });
        cell(&mut row, Side::Left, |ui| {
            head(ui, "used by", "The message that used the reference");
        });
        cell(&mut row, Side::Left, |ui| {
            head(
                ui,
                "last in",
                "The last earlier message that contained it; the lane had removed that message",
            );
        });
        if has_room {
            cell(&mut row, Side::Right, |ui| {
                head(ui, "re-read", "Tokens of that message");
            });
        }
        row.col(|_| {});
    });
    table.body(|body| {
        body.rows(space::ROW - 2.0, n, |mut row| {
            let Some(found) = missed(loss, row.index()) else {
                return;
            };
            let is_here = found.step() == input.selection.step;
            row.set_selected(is_here && Some(message_to_select(found)) == input.selection.message);
            cells(&mut row, input, losses, found, has_room);
            if row.response().clicked() {
                commands.push(Command::LookAt(Spot {
                    lane,
                    step: Some(found.step()),
                    message: Some(message_to_select(found)),
                }));
            }
        });
    });
}

/// Returns the message that a click selects: the removed message, or the blind edit.
fn message_to_select(found: Missed) -> usize {
    match found {
        Missed::Edit(edit) => edit.message,
        Missed::Name(fault) => fault.source,
    }
}

/// Returns the row to scroll to after another call was selected elsewhere: the first row of that call.
fn reveal(ui: &Ui, input: &PanelInput<'_>, losses: &Losses, lane: Option<usize>) -> Option<usize> {
    let id = Id::unique("loss list seen");
    let now = (lane, input.selection.step);
    let seen: Option<(Option<usize>, usize)> = ui.data(|d| d.get_temp(id));
    ui.data_mut(|d| d.insert_temp(id, now));
    if seen == Some(now) || seen.is_none() {
        return None;
    }
    let loss = losses.of(lane)?;
    let is_here = |nth: &usize| missed(loss, *nth).is_some_and(|m| m.step() == now.1);
    let mut here = (0..n_missed(loss)).filter(is_here);
    let first = here.next();
    // A clicked row stays under the pointer.
    let is_clicked = |nth: usize| {
        let found = missed(loss, nth);
        found.map(message_to_select) == input.selection.message
    };
    first.filter(|nth| !is_clicked(*nth) && !here.any(is_clicked))
}

fn cells(
    row: &mut TableRow<'_, '_>,
    input: &PanelInput<'_>,
    losses: &Losses,
    found: Missed,
    has_room: bool,
) {
    cell(row, Side::Right, |ui| {
        ui.label(weak(ui, wording::number(found.step())));
    });
    cell(row, Side::Left, |ui| match found {
        Missed::Edit(edit) => {
            let said = format!("blind edit: {} of {} lines present", edit.seen, edit.lines);
            let text = RichText::new(said).color(palette(ui).bad);
            ui.add(Label::new(text).truncate());
        }
        Missed::Name(fault) => {
            let word = safe_text::one_line(losses.names.word(fault.name), LONGEST);
            let text = RichText::new(word).text_style(TextStyle::Monospace);
            ui.add(Label::new(text).truncate());
        }
    });
    cell(row, Side::Left, |ui| {
        message(ui, input, found.message(), false);
    });
    cell(row, Side::Left, |ui| match found {
        Missed::Edit(_) => {
            ui.label(weak(ui, "–"));
        }
        Missed::Name(fault) => message(ui, input, fault.source, true),
    });
    if has_room {
        cell(row, Side::Right, |ui| {
            let said = match found {
                Missed::Edit(_) => "–".to_owned(),
                Missed::Name(fault) => wording::short(fault.refetch),
            };
            ui.label(weak(ui, said));
        });
    }
    row.col(|_| {});
}

/// Shows a message's number, kind and tool.
fn message(ui: &mut Ui, input: &PanelInput<'_>, message: usize, has_preview: bool) {
    let Some(facts) = input.document.facts.get(message) else {
        return;
    };
    widgets::swatch(ui, palette(ui).kind(facts.kind));
    ui.label(weak(ui, wording::number(message)));
    let what = facts.tool.as_deref().unwrap_or(wording::kind(facts.kind));
    if has_preview {
        ui.label(what);
        widgets::one_line(ui, weak(ui, &*facts.preview));
    } else {
        ui.add(Label::new(what).truncate());
    }
}

/// Explains why the list is empty.
fn empty_state(ui: &mut Ui, input: &PanelInput<'_>, losses: &Losses, lane: Option<usize>) {
    let name = input.runs.label(lane);
    let said = if input.document.session().calls.is_empty() {
        "This file has no model calls, so no reference can be at risk.".to_owned()
    } else if losses.names.is_empty() {
        "The agent never mentioned an earlier name again, so no reference can be at risk."
            .to_owned()
    } else if lane.is_none() {
        "The recorded calls contained every name that the agent used: the noise floor is 0."
            .to_owned()
    } else {
        format!("{name} kept every name that the recorded agent used.")
    };
    crate::app::widgets::text::padded(ui, |ui| {
        ui.add(Label::new(RichText::new(said).color(palette(ui).ok)).wrap());
    });
}
