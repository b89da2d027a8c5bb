//! The recorded lane and the others side by side: the figures, and below them every message under each policy at the
//! selected call.
//!
//! Rows are aligned: a message has the same vertical position in every lane.

use crate::app::state::command::Commands;
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::lanes::lines::Line;
use crate::app::state::model::lane_context::{Row, WrittenPosition};
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::ui::lanes::cell::ROW;
use crate::app::ui::lanes::figure_grid::RankedFigures;
use crate::app::ui::lanes::head;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::in_view::{InView, Rows, SelectedRow};
use egui::style::ScrollStyle;
use egui::{Id, Rect, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

/// Minimum width of a lane in points: seven fit beside the settings in a window of 1,280 points. Lanes that do not fit
/// scroll horizontally.
const MIN_LANE: f32 = 138.0;
/// Maximum width of lanes that do not all fit, as a multiple of the minimum.
const MAX_STRETCH: f32 = 1.25;
/// Minimum number of visible rows, in a low window and in others.
const MIN_ROWS: [f32; 2] = [1.0, 6.0];

/// Height in points of the lines above and below the lanes, so that whole rows fit between them.
const EDGE: f32 = 2.0;
/// Height in points of the horizontal scroll bar, which is always visible and has its own space.
const BAR: f32 = 8.0;

/// Returns the minimum height of lanes in this width: their heads, a few rows, and the scroll bar if the lanes do not fit.
pub(crate) fn least_height(ui: &Ui, input: &OpenSession<'_>, available: f32) -> f32 {
    let width = width(input, &RankedFigures::new(ui, input), available);
    let has_bar = width * n_columns(input) as f32 > available + 0.5;
    let rows = MIN_ROWS[usize::from(head::is_high_window(ui))];
    head::height(ui) + rows * ROW + EDGE + if has_bar { BAR } else { 0.0 }
}

/// Returns the width of each lane, in points. If not all fit, no lane is cut as long as little is left over.
fn width(input: &OpenSession<'_>, figures: &RankedFigures, available: f32) -> f32 {
    let least = head::least_width(figures).max(MIN_LANE);
    let even = available / n_columns(input) as f32;
    let whole = available / (available / least).floor().max(1.0);
    if even >= least {
        even
    } else if whole <= MAX_STRETCH * least {
        whole
    } else {
        least
    }
}

/// Returns the number of lanes with the recorded one.
fn n_columns(input: &OpenSession<'_>) -> usize {
    input.columns().count()
}

/// Shows the lanes.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let figures = RankedFigures::new(ui, input);
    let (n, width) = (n_columns(input), width(input, &figures, ui.available_width()));
    ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
    // Scrolling snaps to whole rows, so no fade at the edges is needed.
    ui.spacing_mut().scroll.fade.strength = 0.0;
    let rows_scroll = ui.spacing().scroll;
    ui.spacing_mut().scroll = ScrollStyle {
        bar_width: BAR - 2.0,
        bar_inner_margin: 1.0,
        bar_outer_margin: 1.0,
        fade: rows_scroll.fade,
        ..ScrollStyle::solid()
    };
    // The mouse wheel scrolls the lanes over their heads and the rows below.
    ui.style_mut().always_scroll_the_only_direction = true;
    let revealed = column_to_reveal(ui, input, width);
    let mut area = ScrollArea::horizontal().auto_shrink(false);
    if let Some(Revealed::Anew(column)) = revealed {
        let [left, right] = [column, column + 1].map(|column| column as f32 * width);
        let least = (right - ui.available_width()).max(0.0);
        area = area.horizontal_scroll_offset(least.min(left));
    }
    area.show(ui, |ui| {
        ui.spacing_mut().scroll = rows_scroll;
        let plan = head::plan(ui, &figures, width);
        let full = vec2(width * n as f32, plan.height);
        let (head, _) = ui.allocate_exact_size(full, Sense::hover());
        let bottom = ui.max_rect().bottom();
        for (column, lane) in input.columns().enumerate() {
            let left = head.left() + column as f32 * width;
            let area = Rect::from_min_max(pos2(left, head.top()), pos2(left + width, bottom));
            let is_focused = input.selection.lane == lane;
            if revealed == Some(Revealed::From(column)) {
                ui.scroll_to_rect(area.with_max_y(head.bottom()), None);
            }
            if is_focused {
                ui.painter().rect_filled(area, 0.0, palette(ui).panel);
            }
            if column > 0 {
                ui.painter().vline(left, area.y_range(), palette(ui).line());
            }
            let place = area.with_max_y(head.bottom());
            head::show(ui, input, lane, &plan, place, commands);
        }
        let whole_rows = ((ui.available_height() / ROW).floor() * ROW).max(ROW);
        let size = vec2(width * n as f32, whole_rows);
        ui.allocate_ui(size, |ui| rows(ui, input, width, commands));
    });
}

/// A column that is scrolled into view.
#[derive(Clone, Copy, PartialEq)]
enum Revealed {
    /// From the current position.
    From(usize),
    /// From the start of the lanes, without an animation.
    Anew(usize),
}

/// Returns the column of the focused lane in the frame in which it got the focus or in which the width of the lanes changed.
fn column_to_reveal(ui: &Ui, input: &OpenSession<'_>, width: f32) -> Option<Revealed> {
    let (id, lane) = (Id::unique("lane in view"), input.selection.lane);
    let now = (lane, width);
    let before: Option<(Option<usize>, f32)> = ui.data(|data| data.get_temp(id));
    ui.data_mut(|data| data.insert_temp(id, now));
    let column = lane.map_or(0, |lane| lane + 1);
    match before {
        Some(before) if before == now => None,
        Some((_, before)) if before == width => Some(Revealed::From(column)),
        _ => Some(Revealed::Anew(column)),
    }
}

/// Returns the row to keep in view: the selected one, or the next one if the lanes have no row for it.
fn selected_row(input: &OpenSession<'_>) -> Option<usize> {
    let message = || input.selection.message.map(|m| Row::Message(m as u32));
    let selected = input.selection.written.map(Row::Written).or_else(message)?;
    input.rows.row_at(selected)
}

fn rows(ui: &mut Ui, input: &OpenSession<'_>, width: f32, commands: &mut Commands) {
    let lines = input.rows.lines(&input.view.unfolded);
    let shape = Rows { len: lines.len, row: ROW, height: ui.available_height() };
    let id = Id::unique(("lane rows in view", input.document.source_id));
    let mut kept = InView::load(ui.ctx(), id);
    let row = selected_row(input);
    if row.is_some() && (input.once.reveals_message || input.once.reorders_messages) {
        kept.request();
    }
    // A new session starts at the latest removed messages.
    let row = row.or_else(|| kept.is_due().then_some(input.rows.frontier));
    let row = row.filter(|_| input.rows.call == input.selection.call && lines.len > 0);
    let selected = row.map(|row| SelectedRow {
        row,
        position: lines.of_row(row),
        n_foldable_above: input.rows.n_foldable_above(row),
    });
    // The scroll position stays until the rows of the selected call are available.
    let followed = selected.and_then(|_| kept.follow(selected, shape));
    let snap = Id::unique("lanes snap");
    let snapped = ui.data_mut(|d| d.remove_temp::<f32>(snap));
    let area = ScrollArea::vertical()
        .id_salt("lane rows")
        .min_scrolled_height(0.0)
        .auto_shrink(false)
        .vertical_scroll_offset(followed.or(snapped).unwrap_or(kept.offset));
    let shown = area.show_rows(ui, ROW, lines.len, |ui, shown| {
        if input.derived.is_stale() {
            ui.multiply_opacity(0.5);
        }
        for line in shown {
            show_line(ui, input, lines.at(line), width, commands);
        }
    });
    // Snaps to a whole row in the next frame.
    let is_moving = ui.input(|i| i.pointer.any_down() || i.is_scrolling());
    let offset = shown.state.unclamped_offset().y;
    kept.store(ui.ctx(), id, offset, shape);
    // Limited to the scroll range; otherwise the snap would repeat forever.
    let range = (shown.content_size.y - shown.inner_rect.height()).max(0.0);
    let whole = (offset / ROW).round().min((range / ROW).floor()) * ROW;
    if !is_moving && (whole - offset).abs() > 0.1 {
        ui.data_mut(|d| d.insert_temp(snap, whole));
        ui.ctx().request_repaint();
    }
}

fn show_line(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    line: Line,
    width: f32,
    commands: &mut Commands,
) {
    let size = vec2(width * n_columns(input) as f32, ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let is_selected = is_selected(input, line);
    if is_selected || response.hovered() {
        let fill =
            if is_selected { palette(ui).selection } else { palette(ui).hover.gamma_multiply(0.5) };
        ui.painter().rect_filled(rect, 0.0, fill);
    }
    match line {
        Line::Row(row) => {
            crate::app::ui::lanes::cell::paint_row(ui, input, input.rows.rows[row], rect, width);
        }
        Line::Fold(fold) => crate::app::ui::lanes::fold::paint(ui, input, fold, rect, width),
    }
    response.widget_info(|| {
        let name = crate::app::ui::lanes::row_text::spoken_line(input, line);
        WidgetInfo::selected(Role::ListBoxOption, true, is_selected, name)
    });
    if response.clicked() {
        match line {
            Line::Fold(line) => {
                let messages = input.rows.folds[line.fold].messages.clone();
                commands.push(LanesCommand::ToggleFold(messages));
            }
            Line::Row(row) => {
                if let Row::Message(message) = input.rows.rows[row] {
                    commands.push(SelectCommand::Message(message as usize));
                }
            }
        }
        if let Some(pointer) = response.interact_pointer_pos() {
            let column = ((pointer.x - rect.left()) / width) as usize;
            let clicked = column.checked_sub(1);
            commands.push(SelectCommand::Lane(clicked));
            if let Some(lane) = clicked
                && let Some(place) = written_at(input, line, lane)
            {
                commands.push(SelectCommand::Written(lane, place));
            }
        }
    }
    if let Line::Row(row) = line
        && let Row::Written(place) = input.rows.rows[row]
    {
        response.on_hover_ui(|ui| crate::app::ui::lanes::row_text::written_hint(ui, input, place));
    }
}

/// Returns the position of the content that a lane wrote in this line, if any.
fn written_at(input: &OpenSession<'_>, shown: Line, lane: usize) -> Option<WrittenPosition> {
    let Line::Row(row) = shown else {
        return None;
    };
    let Row::Written(place) = input.rows.rows[row] else {
        return None;
    };
    let written = &input.rows.lanes.get(lane)?.written;
    written.contains_key(&place).then_some(place)
}

fn is_selected(input: &OpenSession<'_>, line: Line) -> bool {
    if let (Some(place), Line::Row(row)) = (input.selection.written, line) {
        return input.rows.rows[row] == Row::Written(place);
    }
    let Some(message) = input.selection.message.map(|m| m as u32) else {
        return false;
    };
    match line {
        Line::Row(row) => input.rows.rows[row] == Row::Message(message),
        Line::Fold(line) => {
            !line.is_open && input.rows.folds[line.fold].messages.contains(&message)
        }
    }
}
