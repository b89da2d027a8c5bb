//! The lanes side by side: figures, and below them every message as each policy would have left it at the selected call.
//!
//! Rows are aligned: the same message stands at the same height in every lane.

use super::{PanelInput, lane_head, weak};
use crate::app::command::Command;
use crate::app::lane_rows::{Row, Seen};
use crate::app::theme::{self, palette};
use crate::app::widgets;
use crate::app::wording;
use crate::engine::Fate;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use egui::{
    Align2, Color32, Rect, RichText, Role, ScrollArea, Sense, TextStyle, Ui, UiBuilder, WidgetInfo,
    pos2, vec2,
};

/// Height of a row: dense, since there are many and each says little.
const ROW: f32 = 17.0;
/// Height of a lane's head.
const HEAD: f32 = 68.0;
/// Narrowest lane; more lanes than fit scroll sideways.
const MIN_LANE: f32 = 200.0;

/// Shows the lanes.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let n = input.runs.lanes.len().max(1);
    let width = (ui.available_width() / n as f32).max(MIN_LANE);
    ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
    ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        let full = vec2(width * n as f32, HEAD);
        let (head, _) = ui.allocate_exact_size(full, Sense::hover());
        let bottom = ui.max_rect().bottom();
        for lane in 0..input.runs.lanes.len() {
            let left = head.left() + lane as f32 * width;
            let column = Rect::from_min_max(pos2(left, head.top()), pos2(left + width, bottom));
            let is_focused = input.selection.lane == Some(lane);
            if is_focused {
                ui.painter().rect_filled(column, 0.0, palette(ui).panel);
            }
            if lane > 0 {
                ui.painter()
                    .vline(left, column.y_range(), palette(ui).line());
            }
            lane_head::show(ui, input, lane, column.with_max_y(head.bottom()), commands);
        }
        rows(ui, input, width, commands);
    });
}

fn rows(ui: &mut Ui, input: &PanelInput<'_>, width: f32, commands: &mut Vec<Command>) {
    let mut area = ScrollArea::vertical()
        .id_salt("lane rows")
        .auto_shrink(false)
        .animated(false);
    if input.once.reveals_frontier {
        let row = input.rows.frontier;
        let middle = ui.available_height() / 2.0;
        // On a whole row, so that none is cut in half below the head.
        area = area.vertical_scroll_offset((row as f32 - (middle / ROW).floor()).max(0.0) * ROW);
    }
    area.show_rows(ui, ROW, input.rows.rows.len(), |ui, shown| {
        if input.is_stale {
            ui.multiply_opacity(0.5);
        }
        if let Some(row) = input
            .selection
            .message
            .filter(|_| input.once.reveals_message)
            .and_then(|m| input.rows.row_of(m))
        {
            // Only as far as needed: a row that was clicked stays under the pointer.
            let top = ui.cursor().top() + (row as f32 - shown.start as f32) * ROW;
            ui.scroll_to_rect(
                Rect::from_x_y_ranges(ui.max_rect().x_range(), top..=top + ROW),
                None,
            );
        }
        for index in shown {
            let size = vec2(width * input.runs.lanes.len() as f32, ROW);
            let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
            let row = input.rows.rows[index];
            paint_row(ui, input, row, rect, width, response.hovered());
            response
                .widget_info(|| WidgetInfo::labeled(Role::ListBoxOption, true, spoken(input, row)));
            if response.clicked() {
                if let Row::Message(message) = row {
                    commands.push(Command::SelectMessage(message as usize));
                }
                if let Some(pointer) = response.interact_pointer_pos() {
                    commands.push(Command::FocusLane(Some(
                        ((pointer.x - rect.left()) / width) as usize,
                    )));
                }
            }
            if let Row::Written(place) = row {
                response.on_hover_ui(|ui| written_hint(ui, input, place));
            }
        }
    });
}

fn paint_row(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    row: Row,
    rect: Rect,
    width: f32,
    is_hovered: bool,
) {
    let is_selected = matches!(row, Row::Message(m) if input.selection.message == Some(m as usize));
    if is_selected || is_hovered {
        let fill = if is_selected {
            palette(ui).selection
        } else {
            palette(ui).hover.gamma_multiply(0.5)
        };
        ui.painter().rect_filled(rect, 0.0, fill);
    }
    for (lane, context) in input.rows.lanes.iter().enumerate() {
        let left = rect.left() + lane as f32 * width;
        let cell = Rect::from_min_size(pos2(left, rect.top()), vec2(width, ROW));
        match row {
            Row::Message(message) => {
                let seen = context.messages.get(message as usize).copied();
                if let Some(seen) = seen.filter(|s| s.fate != Fate::Absent) {
                    message_cell(ui, input, message as usize, seen, cell);
                }
            }
            Row::Written(place) => {
                if let Some(written) = context.written.get(&place) {
                    let (color, word) = match written.kind {
                        WrittenKind::Summary => (palette(ui).kind(Kind::Summary), "summary"),
                        WrittenKind::Notice => (palette(ui).kind(Kind::Notice), "notice"),
                    };
                    let share = bar_share(written.tokens, input.rows.heaviest);
                    let name = format!("{word} of {}", wording::grouped(written.n_covered as u64));
                    cell_content(
                        ui,
                        cell,
                        "+",
                        &name,
                        share,
                        color,
                        Fate::Kept,
                        Some(written.tokens),
                    );
                }
            }
        }
    }
}

fn message_cell(ui: &mut Ui, input: &PanelInput<'_>, message: usize, seen: Seen, cell: Rect) {
    let color = palette(ui).kind(input.document.facts[message].kind);
    let share = bar_share(input.runs.case.ledger.message(message), input.rows.heaviest);
    let tokens = matches!(seen.fate, Fate::Kept | Fate::Cleared | Fate::Cut).then_some(seen.tokens);
    cell_content(
        ui,
        cell,
        &wording::number(message),
        wording::fate(seen.fate),
        share,
        color,
        seen.fate,
        tokens,
    );
}

#[expect(clippy::too_many_arguments, reason = "one cell is these eight things")]
fn cell_content(
    ui: &mut Ui,
    cell: Rect,
    number: &str,
    word: &str,
    share: f32,
    color: Color32,
    fate: Fate,
    tokens: Option<Tokens>,
) {
    let (y, font) = (cell.center().y, TextStyle::Small.resolve(ui.style()));
    let (weak, text) = (palette(ui).weak, palette(ui).text);
    let ink = if matches!(fate, Fate::Kept) {
        text
    } else {
        weak
    };
    let painter = ui.painter().with_clip_rect(cell.intersect(ui.clip_rect()));
    painter.text(
        pos2(cell.left() + 44.0, y),
        Align2::RIGHT_CENTER,
        number,
        font.clone(),
        weak,
    );
    painter.text(
        pos2(cell.left() + 52.0, y),
        Align2::LEFT_CENTER,
        word,
        font.clone(),
        ink,
    );
    let said = tokens.map_or_else(|| "–".to_owned(), wording::tokens);
    painter.text(
        pos2(cell.right() - 12.0, y),
        Align2::RIGHT_CENTER,
        said,
        font,
        ink,
    );
    let word_end = if number == "+" { 152.0 } else { 106.0 };
    let bar = Rect::from_min_max(
        pos2(cell.left() + word_end, y - 4.0),
        pos2(cell.right() - 62.0, y + 4.0),
    );
    if bar.width() > 8.0 {
        // A child of its own: the bar must not move the row below.
        widgets::fate_bar(
            &mut ui.new_child(UiBuilder::new().max_rect(bar)),
            share,
            color,
            fate,
            bar.size(),
        );
    }
}

/// Length of a bar: by the root, so that a small message is still seen beside a giant one.
fn bar_share(tokens: Tokens, heaviest: Tokens) -> f32 {
    tokens.share_of(heaviest).0.sqrt() as f32
}

/// What a row says to those who cannot see it.
fn spoken(input: &PanelInput<'_>, row: Row) -> String {
    let lanes = input.runs.lanes.iter().zip(&input.rows.lanes);
    match row {
        Row::Message(message) => {
            let fates = lanes.map(|(run, lane)| {
                let seen = lane.messages.get(message as usize);
                format!(
                    "{} {}",
                    run.policy.label,
                    seen.map_or("absent", |s| wording::fate(s.fate))
                )
            });
            format!(
                "Message {}: {}",
                message + 1,
                fates.collect::<Vec<_>>().join(", ")
            )
        }
        Row::Written(place) => {
            let written = lanes.filter_map(|(run, lane)| {
                let written = lane.written.get(&place)?;
                Some(format!(
                    "{} wrote a {} of {} messages",
                    run.policy.label,
                    wording::written(written.kind),
                    written.n_covered
                ))
            });
            written.collect::<Vec<_>>().join(", ")
        }
    }
}

fn written_hint(ui: &mut Ui, input: &PanelInput<'_>, place: crate::app::lane_rows::Place) {
    for (run, lane) in input.runs.lanes.iter().zip(&input.rows.lanes) {
        let Some(written) = lane.written.get(&place) else {
            continue;
        };
        let covered = wording::count(written.n_covered, "message");
        ui.label(
            RichText::new(format!(
                "{}: {} for {covered}, {} tok",
                run.policy.label,
                wording::written(written.kind),
                wording::tokens(written.tokens)
            ))
            .text_style(theme::strong()),
        );
        let text = if written.is_predicted {
            "The text is written when the lane is exported; its size is the policy's cap."
                .to_owned()
        } else {
            crate::app::safe_text::one_line(&written.text, 400)
        };
        ui.label(weak(ui, text));
    }
}
