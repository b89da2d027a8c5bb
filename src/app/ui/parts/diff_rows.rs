//! The rows of a difference: lines with signs, and folds that open with a click.

use crate::app::state::changes::diff::{Fold, Row};
use crate::app::state::changes::diff_line::{DiffLine, Side};
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::small;
use egui::text::LayoutJob;
use egui::{
    Align, Align2, Button, Color32, CursorIcon, Id, Sense, Shape, TextFormat, TextStyle, Ui, vec2,
};

/// Rows per page.
pub(crate) const PAGE: usize = 240;
/// Width of the sign before a line, in points.
const SIGN: f32 = 10.0;
/// Height of a line that is not wrapped, in points.
const LINE: f32 = 16.0;

/// Shows a page of rows.
pub(crate) fn show(ui: &mut Ui, id: Id, rows: &[Row], page: usize) {
    let lines = lines(ui, id, rows, page);
    let guess = |_| LINE;
    widgets::virtual_list(ui, id.with(page), lines.len(), guess, |ui, nth| match lines[nth] {
        Line::Plain(line) => show_line(ui, line),
        Line::Fold { id, fold, is_open } => show_fold(ui, id, fold, is_open),
        Line::More(n) => show_more(ui, n),
    });
}

/// A displayed line. An open fold is followed by its lines.
#[derive(Clone, Copy)]
enum Line<'a> {
    Plain(&'a DiffLine),
    Fold {
        /// The id of its state.
        id: Id,
        fold: &'a Fold,
        is_open: bool,
    },
    /// The number of lines of a fold that are not shown.
    More(usize),
}

fn lines<'a>(ui: &Ui, id: Id, rows: &'a [Row], page: usize) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate().skip(page * PAGE).take(PAGE) {
        let fold = match row {
            Row::Line(line) => {
                lines.push(Line::Plain(line));
                continue;
            }
            Row::Fold(fold) => fold,
        };
        let id = id.with(("fold", at));
        let is_open = ui.data(|data| data.get_temp(id)).unwrap_or(false);
        lines.push(Line::Fold { id, fold, is_open });
        if is_open {
            lines.extend(fold.lines.iter().map(Line::Plain));
            lines.extend((fold.more > 0).then_some(Line::More(fold.more)));
        }
    }
    lines
}

/// Shows a line with its sign, tinted across the whole width.
fn show_line(ui: &mut Ui, line: &DiffLine) {
    let palette = palette(ui);
    let (sign, name, sign_color, backgrounds) = match line.side {
        Side::Same => ("", "unchanged", palette.weak, None),
        Side::Removed => ("−", "removed", palette.bad, Some(palette.removed())),
        Side::Added => ("+", "added", palette.ok, Some(palette.added())),
    };
    let background = ui.painter().add(Shape::Noop);
    let row = ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        ui.spacing_mut().interact_size.y = LINE;
        let (place, text) = ui.allocate_exact_size(vec2(SIGN, LINE), Sense::hover());
        text.accessible_name(name);
        let font = TextStyle::Monospace.resolve(ui.style());
        ui.painter().text(place.center(), Align2::CENTER_CENTER, sign, font, sign_color);
        let job = job(ui, line, backgrounds.map(|[_, words]| words));
        widgets::selectable(ui, job);
    });
    if let Some([whole, _]) = backgrounds {
        let rect = row.response.rect.with_max_x(ui.max_rect().right());
        ui.painter().set(background, Shape::rect_filled(rect.expand2(vec2(2.0, 0.0)), 0.0, whole));
    }
}

/// Lays out the text of a line with a background behind the changed words.
fn job(ui: &Ui, line: &DiffLine, words: Option<Color32>) -> LayoutJob {
    let color = if line.side == Side::Same { palette(ui).weak } else { palette(ui).text };
    let mut job = LayoutJob::default();
    for piece in &line.pieces {
        let format = TextFormat {
            font_id: TextStyle::Monospace.resolve(ui.style()),
            color,
            background: words.filter(|_| piece.is_changed).unwrap_or(Color32::TRANSPARENT),
            valign: Align::Center,
            ..TextFormat::default()
        };
        job.append(&piece.text, 0.0, format);
    }
    job
}

/// Shows the button of folded lines.
fn show_fold(ui: &mut Ui, id: Id, fold: &Fold, is_open: bool) {
    let noun = match fold.side {
        Side::Same => "unchanged line",
        Side::Removed => "more removed line",
        Side::Added => "more added line",
    };
    let lines = wording::count(fold.lines.len() + fold.more, noun);
    let (arrow, action) = if is_open { ("⏷", "Fold") } else { ("⏵", "Unfold") };
    let name = format!("{arrow} {lines}");
    let button =
        Button::new(small(ui, name)).frame(false).min_size(vec2(ui.available_width(), 20.0));
    let button = ui
        .add(button.wrap())
        .on_hover_cursor(CursorIcon::PointingHand)
        .accessible_name(format!("{action} {lines}"));
    if button.clicked() {
        ui.data_mut(|data| data.insert_temp(id, !is_open));
    }
}

fn show_more(ui: &mut Ui, n: usize) {
    let more = wording::count(n, "line");
    ui.label(small(ui, format!("{more} more. The tab Parts shows the whole text.")));
}
