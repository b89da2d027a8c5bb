//! Folded rows of the lanes: consecutive messages with the same status on one line.

use crate::app::state::lanes::lines::FoldLine;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::lanes::cell::ROW;
use crate::app::ui::theme::palette;
use crate::engine::MessageStatus;
use egui::{Align2, Color32, Rect, TextStyle, Ui, pos2, vec2};

/// Draws a fold in every column: its messages, their count, status and total tokens.
pub(crate) fn paint(ui: &Ui, input: &OpenSession<'_>, line: FoldLine, rect: Rect, width: f32) {
    let font = TextStyle::Small.resolve(ui.style());
    let (weak, text) = (palette(ui).weak, palette(ui).text);
    let fold = &input.rows.folds[line.fold];
    let [first, last] = [*fold.messages.start(), *fold.messages.end()].map(|m| m as usize);
    let range = format!("{}–{}", wording::number(first), wording::number(last));
    for (column, (_, context)) in input.rows.columns().enumerate() {
        let left = rect.left() + column as f32 * width;
        let cell = Rect::from_min_size(pos2(left, rect.top()), vec2(width, ROW));
        let Some(seen) = context.messages.get(first) else {
            continue;
        };
        let painter = ui.painter().with_clip_rect(cell.intersect(ui.clip_rect()));
        let y = cell.center().y;
        triangle(&painter, pos2(left + 10.0, y), line.is_open, weak);
        let mut at =
            painter.text(pos2(left + 18.0, y), Align2::LEFT_CENTER, &range, font.clone(), weak);
        let is_there = matches!(
            seen.status,
            MessageStatus::Kept | MessageStatus::Cleared | MessageStatus::Cut
        );
        let tokens = fold.tokens.get(column).filter(|_| is_there);
        let tokens = tokens.map_or_else(|| "–".to_owned(), |t| wording::tokens(*t));
        let ink = if is_there { text } else { weak };
        let end = painter.text(
            pos2(cell.right() - 12.0, y),
            Align2::RIGHT_CENTER,
            tokens,
            font.clone(),
            ink,
        );
        let words = [
            format!(
                "{} {}",
                wording::count(fold.rows.len(), "message"),
                wording::status_of_many(seen.status)
            ),
            wording::status_of_many(seen.status).to_owned(),
        ];
        // Shows as many words as fit before the number.
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

/// Draws a triangle that points right (closed) or down (open).
fn triangle(painter: &egui::Painter, center: egui::Pos2, is_open: bool, color: Color32) {
    let corners = if is_open {
        [vec2(-4.0, -2.0), vec2(4.0, -2.0), vec2(0.0, 3.0)]
    } else {
        [vec2(-2.0, -4.0), vec2(3.0, 0.0), vec2(-2.0, 4.0)]
    };
    let corners = corners.map(|by| center + by).to_vec();
    painter.add(egui::Shape::convex_polygon(corners, color, egui::Stroke::NONE));
}
