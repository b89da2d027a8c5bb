//! Standing instructions of the user (always, never, do not) and the calls at which each lane no longer has them
//! verbatim.

use super::compute::{LaneLoss, Losses, steps_said};
use crate::analysis::loss::Standing;
use crate::app::command::{Command, Spot};
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{palette, space};
use crate::app::widgets::table::{Side, cell, head};
use crate::app::widgets::text::weak;
use crate::app::wording;
use crate::safe_text;
use egui::{Align, Label, Layout, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use egui_extras::{Column, TableBuilder};

/// Width of a lane's strip, in points.
const STRIP: f32 = 104.0;
/// Maximum length of a displayed sentence, in characters.
const LONGEST: usize = 300;

/// Shows the table.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    losses: &Losses,
    commands: &mut Vec<Command>,
) {
    let all = losses.names.instructions();
    if all.is_empty() {
        crate::app::widgets::text::padded(ui, |ui| {
            let said =
                "No standing instructions: no user message contains always, never, must or do not.";
            ui.label(weak(ui, said));
        });
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let lanes: Vec<(Option<usize>, &LaneLoss)> = losses.all().collect();
    // Narrow windows show only the recorded lane and the focused lane.
    let room = ((ui.available_width() - 320.0) / (STRIP + space::S)).max(2.0) as usize;
    let is_focused = |lane: Option<usize>| lane.is_none() || lane == input.selection.lane;
    let shown = lanes
        .iter()
        .filter(|(lane, _)| lanes.len() <= room || is_focused(*lane));
    let shown: Vec<_> = shown.collect();
    let mut table = TableBuilder::new(ui)
        .id_salt(("instructions", shown.len()))
        .striped(true)
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(64.0))
        .column(Column::remainder().clip(true));
    for _ in &shown {
        table = table.column(Column::exact(STRIP + space::S));
    }
    let table = table
        .column(Column::exact(space::S))
        .header(space::ROW, |mut row| {
            cell(&mut row, Side::Right, |ui| {
                head(
                    ui,
                    "message",
                    "The user message that contains the instruction",
                );
            });
            cell(&mut row, Side::Left, |ui| head(ui, "instruction", ""));
            for (lane, _) in &shown {
                cell(&mut row, Side::Left, |ui| {
                    let name = input.runs.label(*lane);
                    head(ui, name, "Thin: present verbatim. Thick: missing.");
                });
            }
            row.col(|_| {});
        });
    table.body(|body| {
        body.rows(space::ROW, all.len(), |mut row| {
            let idx = row.index();
            let instruction = &all[idx];
            row.set_selected(input.selection.message == Some(instruction.message));
            cell(&mut row, Side::Right, |ui| {
                ui.label(weak(ui, wording::number(instruction.message)));
            });
            cell(&mut row, Side::Left, |ui| {
                let said = safe_text::one_line(&instruction.text, LONGEST);
                ui.add(Label::new(said).truncate());
            });
            let said_at = input.document.facts.get(instruction.message);
            let said_at = said_at.and_then(|facts| facts.step).unwrap_or(0);
            for (lane, loss) in &shown {
                let standing = loss.found.standing.get(idx);
                cell(&mut row, Side::Left, |ui| {
                    let name = input.runs.label(*lane);
                    let response = strip(ui, input, (standing, said_at), name);
                    if response.clicked() {
                        look_at(instruction.message, *lane, standing, commands);
                    }
                });
            }
            row.col(|_| {});
            if row.response().clicked() {
                let focused = losses.of(input.selection.lane);
                let standing = focused.and_then(|loss| loss.found.standing.get(idx));
                look_at(
                    instruction.message,
                    input.selection.lane,
                    standing,
                    commands,
                );
            }
        });
    });
}

/// Selects the first call at which a lane lost an instruction, if any.
fn look_at(
    message: usize,
    lane: Option<usize>,
    standing: Option<&Standing>,
    commands: &mut Vec<Command>,
) {
    let lost = standing.and_then(|standing| standing.gone.first());
    commands.push(Command::LookAt(Spot {
        lane,
        step: lost.map(|steps| steps.start),
        message: Some(message),
    }));
}

/// Draws a strip of all calls: thin where the instruction is present, thick where it is missing, empty before it.
fn strip(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    (standing, said_at): (Option<&Standing>, usize),
    lane: &str,
) -> Response {
    let n = input.document.session().calls.len();
    let (rect, response) = ui.allocate_exact_size(vec2(STRIP - space::S, 12.0), Sense::CLICK);
    let place = |step: usize| rect.left() + rect.width() * step as f32 / n.max(1) as f32;
    let bar = |from: usize, to: usize, height: f32| {
        let right = place(to).max(place(from) + 1.5);
        Rect::from_min_max(
            pos2(place(from), rect.center().y - height / 2.0),
            pos2(right, rect.center().y + height / 2.0),
        )
    };
    ui.painter()
        .rect_filled(bar(said_at, n, 2.0), 0.0, palette(ui).ok);
    let gone = standing.map_or(&[][..], |standing| &standing.gone);
    for steps in gone {
        ui.painter()
            .rect_filled(bar(steps.start, steps.end, 10.0), 1.0, palette(ui).bad);
    }
    let said = missing_calls(gone, n);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{lane}: {said}")));
    response.on_hover_text(said)
}

fn missing_calls(gone: &[std::ops::Range<usize>], n_steps: usize) -> String {
    const MOST: usize = 6;
    if gone.is_empty() {
        return "Present verbatim at every call".to_owned();
    }
    let stretches: Vec<String> = gone
        .iter()
        .take(MOST)
        .map(|s| steps_said(s, n_steps))
        .collect();
    let more = match gone.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more ranges"),
    };
    format!("Missing at calls {}{more}", stretches.join(", "))
}
