//! Icons of manual edits, drawn here because no font has all of them in one style.

use crate::app::state::model::marks::Mark;
use egui::{Color32, Painter, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

/// Side length of an icon, in points.
const SIDE: f32 = 12.0;

/// Shows an icon: a pin (pinned), an empty box (cleared) or a cross (dropped).
pub fn mark_icon(ui: &mut Ui, mark: Mark, color: Color32) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(SIDE, SIDE), Sense::hover());
    // Aligned to whole pixels: thin strokes would blur otherwise.
    let center = pos2(rect.center().x.round(), rect.center().y.round());
    paint(ui.painter(), mark, center, color);
    response
}

fn paint(painter: &Painter, mark: Mark, center: Pos2, color: Color32) {
    let stroke = Stroke::new(1.5, color);
    match mark {
        Mark::Pinned => {
            painter.circle_filled(center - vec2(0.0, 2.0), 3.0, color);
            painter.line_segment([center, center + vec2(0.0, 5.5)], stroke);
        }
        Mark::Cleared => {
            let area = Rect::from_center_size(center, vec2(9.0, 9.0));
            painter.rect_stroke(area, 1.5, stroke, StrokeKind::Inside);
        }
        Mark::Dropped => {
            for (x, y) in [(3.5, 3.5), (3.5, -3.5)] {
                painter.line_segment([center - vec2(x, y), center + vec2(x, y)], stroke);
            }
        }
    }
}
