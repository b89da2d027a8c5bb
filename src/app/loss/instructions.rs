//! Standing instructions of the user (always, never, do not) and the calls at which each lane no longer has them
//! verbatim.

use super::compute::{LaneLoss, Losses, calls_text};
use super::input::LossInput;
use crate::analysis::loss::Standing;
use crate::app::command::Commands;
use crate::app::selection::{SelectCommand, Spot};
use crate::app::theme::{palette, space};
use crate::app::widgets::table::{Column, Table};
use crate::app::widgets::text::{padded, weak};
use crate::app::wording;
use crate::safe_text;
use egui::{Label, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use egui_extras::Column as Width;

/// Width of a lane's strip, in points.
const STRIP: f32 = 104.0;
/// Maximum length of a displayed sentence, in characters.
const MAX_CHARS: usize = 300;

/// Shows the table.
pub(super) fn show(ui: &mut Ui, input: &LossInput<'_>, losses: &Losses, commands: &mut Commands) {
    let all = losses.names.instructions();
    if all.is_empty() {
        padded(ui, |ui| {
            let sentence =
                "No standing instructions: no user message contains always, never, must or do not.";
            ui.label(weak(ui, sentence));
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
    let strip_column = |nth: usize| {
        let name = input.runs.label(shown[nth].0);
        Column::new(Col::Strip(nth), name, Width::exact(STRIP + space::S))
            .help("Thin: present verbatim. Thick: missing.")
    };
    let mut columns = vec![
        Column::new(Col::Message, "message", Width::exact(64.0))
            .right()
            .help("The user message that contains the instruction"),
        Column::new(Col::Text, "instruction", Width::remainder().clip(true)),
    ];
    columns.extend((0..shown.len()).map(strip_column));
    Table::new("instructions", columns, all.len())
        .margins(0.0, space::S)
        .striped()
        .show(ui, |mut row| {
            let idx = row.index();
            let instruction = &all[idx];
            row.select(input.selection.message == Some(instruction.message));
            row.cells(|ui, column| match column {
                Col::Message => drop(ui.label(weak(ui, wording::number(instruction.message)))),
                Col::Text => {
                    let sentence = safe_text::one_line(&instruction.text, MAX_CHARS);
                    ui.add(Label::new(sentence).truncate());
                }
                Col::Strip(nth) => {
                    let (lane, loss) = *shown[nth];
                    let standing = loss.found.standing.get(idx);
                    if strip(ui, input, (standing, instruction.message), lane).clicked() {
                        look_at(instruction.message, lane, standing, commands);
                    }
                }
            });
            if row.response().clicked() {
                let lane = input.selection.lane;
                let loss = losses.of(lane);
                let standing = loss.and_then(|loss| loss.found.standing.get(idx));
                look_at(instruction.message, lane, standing, commands);
            }
        });
}

/// A column of the table.
#[derive(Clone, Copy)]
enum Col {
    Message,
    Text,
    /// The strip of a shown lane, by its index.
    Strip(usize),
}

/// Selects the first call at which a lane lost an instruction, if any.
fn look_at(
    message: usize,
    lane: Option<usize>,
    standing: Option<&Standing>,
    commands: &mut Commands,
) {
    let lost = standing.and_then(|standing| standing.gone.first());
    commands.push(SelectCommand::Spot(Spot {
        lane,
        call: lost.map(|calls| calls.start),
        message: Some(message),
    }));
}

/// Draws a strip of all calls: thin where the instruction is present, thick where it is missing, empty before it.
fn strip(
    ui: &mut Ui,
    input: &LossInput<'_>,
    (standing, message): (Option<&Standing>, usize),
    lane: Option<usize>,
) -> Response {
    let facts = input.document.facts.get(message);
    let recorded_at = facts.and_then(|facts| facts.call).unwrap_or(0);
    let n = input.document.session().calls.len();
    let (rect, response) = ui.allocate_exact_size(vec2(STRIP - space::S, 12.0), Sense::CLICK);
    let place = |call: usize| rect.left() + rect.width() * call as f32 / n.max(1) as f32;
    let bar = |from: usize, to: usize, height: f32| {
        let right = place(to).max(place(from) + 1.5);
        Rect::from_min_max(
            pos2(place(from), rect.center().y - height / 2.0),
            pos2(right, rect.center().y + height / 2.0),
        )
    };
    ui.painter()
        .rect_filled(bar(recorded_at, n, 2.0), 0.0, palette(ui).ok);
    let gone = standing.map_or(&[][..], |standing| &standing.gone);
    for calls in gone {
        ui.painter()
            .rect_filled(bar(calls.start, calls.end, 10.0), 1.0, palette(ui).bad);
    }
    let (lane, text) = (input.runs.label(lane), missing_calls(gone, n));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{lane}: {text}")));
    response.on_hover_text(text)
}

fn missing_calls(gone: &[std::ops::Range<usize>], n_calls: usize) -> String {
    const MAX_RANGES: usize = 6;
    if gone.is_empty() {
        return "Present verbatim at every call".to_owned();
    }
    let stretches: Vec<String> = gone
        .iter()
        .take(MAX_RANGES)
        .map(|s| calls_text(s, n_calls))
        .collect();
    let more = match gone.len().saturating_sub(MAX_RANGES) {
        0 => String::new(),
        more => format!(" and {more} more ranges"),
    };
    format!("Missing at calls {}{more}", stretches.join(", "))
}
