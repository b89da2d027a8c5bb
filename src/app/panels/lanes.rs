//! The lanes side by side: figures, and below them every message as each policy would have left it at the selected call.
//!
//! Rows are aligned: the same message stands at the same height in every lane.

use super::{PanelInput, belief, lane_head, weak};
use crate::app::command::Command;
use crate::app::lane_rows::{Fold, Line, Place, Row, Seen};
use crate::app::theme::{self, palette};
use crate::app::widgets;
use crate::app::wording;
use crate::engine::Fate;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use egui::{
    Align2, Color32, Id, Rect, RichText, Role, ScrollArea, Sense, TextStyle, Ui, UiBuilder,
    WidgetInfo, pos2, vec2,
};

/// Height of a row: dense, since there are many and each says little.
const ROW: f32 = 17.0;
/// Height of a lane's head, with room below its figures; what a policy believes takes a line more.
const HEAD: f32 = 74.0;
/// Narrowest lane; more lanes than fit scroll sideways.
const MIN_LANE: f32 = 150.0;
/// Narrower lanes leave out the words for the fates, which the bars show by their fill.
const ROOM_FOR_WORDS: f32 = 200.0;

/// What the lanes are scrolled to once the step's rows are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// Where messages were removed last.
    Frontier,
    /// The selected message.
    Message,
}

/// A document's id and what its lanes are still to be scrolled to.
type Kept = (u64, Option<Aim>);

/// Shows the lanes.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let n = input.runs.lanes.len().max(1);
    let width = (ui.available_width() / n as f32).max(MIN_LANE);
    ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
    // Rows are whole or not there: nothing fades.
    ui.spacing_mut().scroll.fade.strength = 0.0;
    ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        let belief = if belief::is_any(input) {
            belief::HEIGHT
        } else {
            0.0
        };
        let full = vec2(width * n as f32, HEAD + belief);
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
        let whole_rows = ((ui.available_height() / ROW).floor() * ROW).max(ROW);
        let size = vec2(width * n as f32, whole_rows);
        ui.allocate_ui(size, |ui| rows(ui, input, width, commands));
    });
}

/// What to scroll to in this frame. A wish is kept until the rows of the selected step have been worked out.
fn aim(ui: &Ui, input: &PanelInput<'_>) -> Option<Aim> {
    let id = Id::unique("lanes aim");
    let kept: Kept = ui.data(|d| d.get_temp(id)).unwrap_or((0, None));
    let is_new = kept.0 != input.document.place;
    let wish = if input.once.reveals_frontier || is_new {
        Some(Aim::Frontier)
    } else if input.once.reveals_message {
        Some(Aim::Message)
    } else {
        kept.1
    };
    let is_there = input.rows.step == input.selection.step;
    let left: Kept = (input.document.place, wish.filter(|_| !is_there));
    if left != kept {
        ui.data_mut(|d| d.insert_temp(id, left));
    }
    wish.filter(|_| is_there)
}

fn rows(ui: &mut Ui, input: &PanelInput<'_>, width: f32, commands: &mut Vec<Command>) {
    let lines = input.rows.lines(&input.view.unfolded);
    let aim = aim(ui, input);
    let mut area = ScrollArea::vertical()
        .id_salt("lane rows")
        .min_scrolled_height(0.0)
        .auto_shrink(false)
        .animated(false);
    let snap = Id::unique("lanes snap");
    if let Some(offset) = ui.data_mut(|d| d.remove_temp::<f32>(snap)) {
        area = area.vertical_scroll_offset(offset);
    }
    if aim == Some(Aim::Frontier) {
        let line = lines.of_row(input.rows.frontier);
        let middle = (ui.available_height() / 2.0 / ROW).floor();
        area = area.vertical_scroll_offset((line as f32 - middle).max(0.0) * ROW);
    }
    let shown = area.show_rows(ui, ROW, lines.len, |ui, shown| {
        if input.is_stale {
            ui.multiply_opacity(0.5);
        }
        if aim == Some(Aim::Message)
            && let Some(row) = input.selection.message.and_then(|m| input.rows.row_of(m))
        {
            // Only as far as needed: a row that was clicked stays under the pointer.
            let line = lines.of_row(row);
            let top = ui.cursor().top() + (line as f32 - shown.start as f32) * ROW;
            ui.scroll_to_rect(
                Rect::from_x_y_ranges(ui.max_rect().x_range(), top..=top + ROW),
                None,
            );
        }
        for line in shown {
            show_line(ui, input, lines.at(line), width, commands);
        }
    });
    // Comes to rest on a whole row, in the next frame.
    let is_moving = ui.input(|i| i.pointer.any_down() || i.is_scrolling());
    let offset = shown.state.unclamped_offset().y;
    // Never further than it can go: that would be tried for ever.
    let room = (shown.content_size.y - shown.inner_rect.height()).max(0.0);
    let whole = (offset / ROW).round().min((room / ROW).floor()) * ROW;
    if !is_moving && (whole - offset).abs() > 0.1 {
        ui.data_mut(|d| d.insert_temp(snap, whole));
        ui.ctx().request_repaint();
    }
}

fn show_line(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    line: Line,
    width: f32,
    commands: &mut Vec<Command>,
) {
    let size = vec2(width * input.runs.lanes.len() as f32, ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let is_selected = is_selected(input, line);
    if is_selected || response.hovered() {
        let fill = if is_selected {
            palette(ui).selection
        } else {
            palette(ui).hover.gamma_multiply(0.5)
        };
        ui.painter().rect_filled(rect, 0.0, fill);
    }
    match line {
        Line::Row(row) => paint_row(ui, input, input.rows.rows[row], rect, width),
        Line::Fold(fold, is_open) => {
            paint_fold(ui, input, &input.rows.folds[fold], is_open, rect, width);
        }
    }
    response
        .widget_info(|| WidgetInfo::labeled(Role::ListBoxOption, true, spoken_line(input, line)));
    if response.clicked() {
        match line {
            Line::Fold(fold, _) => {
                let (first, last) = input.rows.folds[fold].messages;
                commands.push(Command::Unfold(first, last));
            }
            Line::Row(row) => {
                if let Row::Message(message) = input.rows.rows[row] {
                    commands.push(Command::SelectMessage(message as usize));
                }
            }
        }
        if let Some(pointer) = response.interact_pointer_pos() {
            let clicked = ((pointer.x - rect.left()) / width) as usize;
            commands.push(Command::FocusLane(Some(clicked)));
            if let Some(place) = written_at(input, line, clicked) {
                commands.push(Command::SelectWritten(clicked, place));
            }
        }
    }
    if let Line::Row(row) = line {
        match input.rows.rows[row] {
            Row::Written(place) => {
                response.on_hover_ui(|ui| written_hint(ui, input, place));
            }
            row if width < ROOM_FOR_WORDS => {
                response.on_hover_ui(|ui| {
                    ui.label(spoken(input, row));
                });
            }
            Row::Message(_) => {}
        }
    }
}

/// What the lane wrote in this line, if it did.
fn written_at(input: &PanelInput<'_>, line: Line, column: usize) -> Option<Place> {
    let Line::Row(row) = line else { return None };
    let Row::Written(place) = input.rows.rows[row] else {
        return None;
    };
    let written = &input.rows.lanes.get(column)?.written;
    written.contains_key(&place).then_some(place)
}

fn is_selected(input: &PanelInput<'_>, line: Line) -> bool {
    if let (Some(place), Line::Row(row)) = (input.selection.written, line) {
        return input.rows.rows[row] == Row::Written(place);
    }
    let Some(message) = input.selection.message.map(|m| m as u32) else {
        return false;
    };
    match line {
        Line::Row(row) => input.rows.rows[row] == Row::Message(message),
        Line::Fold(_, true) => false,
        Line::Fold(fold, false) => {
            let (first, last) = input.rows.folds[fold].messages;
            (first..=last).contains(&message)
        }
    }
}

/// A fold in every lane: which messages, how many and what became of them, what they weigh together.
fn paint_fold(ui: &Ui, input: &PanelInput<'_>, fold: &Fold, is_open: bool, rect: Rect, width: f32) {
    let font = TextStyle::Small.resolve(ui.style());
    let (weak, text) = (palette(ui).weak, palette(ui).text);
    let (first, last) = fold.messages;
    let range = format!(
        "{}–{}",
        wording::number(first as usize),
        wording::number(last as usize)
    );
    for (lane, context) in input.rows.lanes.iter().enumerate() {
        let left = rect.left() + lane as f32 * width;
        let cell = Rect::from_min_size(pos2(left, rect.top()), vec2(width, ROW));
        let Some(seen) = context.messages.get(first as usize) else {
            continue;
        };
        let painter = ui.painter().with_clip_rect(cell.intersect(ui.clip_rect()));
        let y = cell.center().y;
        triangle(&painter, pos2(left + 10.0, y), is_open, weak);
        let mut at = painter.text(
            pos2(left + 18.0, y),
            Align2::LEFT_CENTER,
            &range,
            font.clone(),
            weak,
        );
        let is_there = matches!(seen.fate, Fate::Kept | Fate::Cleared | Fate::Cut);
        let tokens = fold.tokens.get(lane).filter(|_| is_there);
        let said = tokens.map_or_else(|| "–".to_owned(), |t| wording::tokens(*t));
        let ink = if is_there { text } else { weak };
        let end = painter.text(
            pos2(cell.right() - 12.0, y),
            Align2::RIGHT_CENTER,
            said,
            font.clone(),
            ink,
        );
        let words = [
            format!(
                "{} {}",
                wording::count(fold.rows.len(), "message"),
                wording::fate_of_many(seen.fate)
            ),
            wording::fate_of_many(seen.fate).to_owned(),
        ];
        // As many words as have room before the figure.
        let room = end.left() - at.right() - 16.0;
        let galleys = words.map(|words| painter.layout_no_wrap(words, font.clone(), weak));
        if let Some(words) = galleys.into_iter().find(|words| words.size().x <= room) {
            let place = pos2(at.right() + 8.0, y - words.size().y / 2.0);
            at = Rect::from_min_size(place, words.size());
            painter.galley(place, words, weak);
        }
        let between = at.right() + 10.0..=end.left() - 10.0;
        if between.end() - between.start() > 12.0 {
            painter.hline(between, y, palette(ui).line());
        }
    }
}

/// Points right while closed, down while open.
fn triangle(painter: &egui::Painter, center: egui::Pos2, is_open: bool, color: Color32) {
    let corners = if is_open {
        [vec2(-4.0, -2.0), vec2(4.0, -2.0), vec2(0.0, 3.0)]
    } else {
        [vec2(-2.0, -4.0), vec2(3.0, 0.0), vec2(-2.0, 4.0)]
    };
    let corners = corners.map(|by| center + by).to_vec();
    painter.add(egui::Shape::convex_polygon(
        corners,
        color,
        egui::Stroke::NONE,
    ));
}

fn paint_row(ui: &mut Ui, input: &PanelInput<'_>, row: Row, rect: Rect, width: f32) {
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
                    let kind = match written.kind {
                        WrittenKind::Summary => Kind::Summary,
                        WrittenKind::Notice => Kind::Notice,
                    };
                    let content = Cell {
                        number: "+".to_owned(),
                        word: wording::written(written.kind),
                        share: bar_share(written.tokens, input.rows.heaviest),
                        color: palette(ui).kind(kind),
                        fate: Fate::Kept,
                        tokens: Some(written.tokens),
                    };
                    content.show(ui, cell);
                }
            }
        }
    }
}

fn message_cell(ui: &mut Ui, input: &PanelInput<'_>, message: usize, seen: Seen, cell: Rect) {
    let is_there = matches!(seen.fate, Fate::Kept | Fate::Cleared | Fate::Cut);
    let content = Cell {
        number: wording::number(message),
        word: wording::fate(seen.fate),
        share: bar_share(input.runs.case.ledger.message(message), input.rows.heaviest),
        color: palette(ui).kind(input.document.facts[message].kind),
        fate: seen.fate,
        tokens: is_there.then_some(seen.tokens),
    };
    content.show(ui, cell);
}

/// One row of one lane.
struct Cell {
    number: String,
    word: &'static str,
    share: f32,
    color: Color32,
    fate: Fate,
    tokens: Option<Tokens>,
}

impl Cell {
    fn show(&self, ui: &mut Ui, cell: Rect) {
        let (y, font) = (cell.center().y, TextStyle::Small.resolve(ui.style()));
        let (weak, text) = (palette(ui).weak, palette(ui).text);
        let ink = if matches!(self.fate, Fate::Kept) {
            text
        } else {
            weak
        };
        let painter = ui.painter().with_clip_rect(cell.intersect(ui.clip_rect()));
        let has_word = cell.width() >= ROOM_FOR_WORDS;
        let write = |x: f32, align: Align2, text: &str, ink: Color32| {
            painter.text(pos2(x, y), align, text, font.clone(), ink);
        };
        let number_end = cell.left() + if has_word { 44.0 } else { 36.0 };
        write(number_end, Align2::RIGHT_CENTER, &self.number, weak);
        if has_word {
            write(cell.left() + 52.0, Align2::LEFT_CENTER, self.word, ink);
        }
        let said = self.tokens.map_or_else(|| "–".to_owned(), wording::tokens);
        write(cell.right() - 12.0, Align2::RIGHT_CENTER, &said, ink);
        let start = if has_word { 110.0 } else { 44.0 };
        let bar = Rect::from_min_max(
            pos2(cell.left() + start, y - 4.0),
            pos2(cell.right() - 60.0, y + 4.0),
        );
        if bar.width() > 8.0 {
            // A child of its own: the bar must not move the row below.
            let mut place = ui.new_child(UiBuilder::new().max_rect(bar));
            widgets::fate_bar(&mut place, self.share, self.color, self.fate, bar.size());
        }
    }
}

/// Length of a bar: by the root, so that a small message is still seen beside a giant one.
fn bar_share(tokens: Tokens, heaviest: Tokens) -> f32 {
    tokens.share_of(heaviest).0.sqrt() as f32
}

/// What a line says to those who cannot see it.
fn spoken_line(input: &PanelInput<'_>, line: Line) -> String {
    match line {
        Line::Row(row) => spoken(input, input.rows.rows[row]),
        Line::Fold(fold, is_open) => {
            let fold = &input.rows.folds[fold];
            let fates = input.runs.labels.iter().zip(&input.rows.lanes);
            let fates = fates.filter_map(|(label, lane)| {
                let seen = lane.messages.get(fold.messages.0 as usize)?;
                Some(format!("{label} {}", wording::fate_of_many(seen.fate)))
            });
            format!(
                "{} messages {} to {}: {}",
                if is_open { "Fold" } else { "Unfold" },
                fold.messages.0 + 1,
                fold.messages.1 + 1,
                fates.collect::<Vec<_>>().join(", ")
            )
        }
    }
}

fn spoken(input: &PanelInput<'_>, row: Row) -> String {
    let lanes = input.runs.labels.iter().zip(&input.rows.lanes);
    match row {
        Row::Message(message) => {
            let fates = lanes.map(|(label, lane)| {
                let seen = lane.messages.get(message as usize);
                format!(
                    "{label} {}",
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
            let written = lanes.filter_map(|(label, lane)| {
                let written = lane.written.get(&place)?;
                Some(format!(
                    "{label} wrote a {} of {} messages",
                    wording::written(written.kind),
                    written.n_covered
                ))
            });
            written.collect::<Vec<_>>().join(", ")
        }
    }
}

fn written_hint(ui: &mut Ui, input: &PanelInput<'_>, place: Place) {
    for (label, lane) in input.runs.labels.iter().zip(&input.rows.lanes) {
        let Some(written) = lane.written.get(&place) else {
            continue;
        };
        let covered = wording::count(written.n_covered, "message");
        ui.label(
            RichText::new(format!(
                "{label}: {} for {covered}, {} tok",
                wording::written(written.kind),
                wording::tokens(written.tokens)
            ))
            .text_style(theme::strong()),
        );
        let text = if written.is_predicted {
            "The text is written when the lane is exported; its size is the policy's cap."
                .to_owned()
        } else {
            crate::safe_text::one_line(&written.text, 400)
        };
        ui.label(weak(ui, text));
    }
}
