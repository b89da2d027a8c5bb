//! A bar whose length shows the size of a message and whose fill pattern shows its status without relying on color.

use crate::app::ui::theme::{palette, space};
use crate::engine::MessageStatus;
use crate::session::Kind;
use egui::{
    Color32, CornerRadius, Painter, Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, Vec2,
    pos2, vec2,
};

/// Minimum width of a bar, in points.
const MIN_WIDTH: f32 = 4.0;
/// Distance between hatching lines, in points.
const HATCH: f32 = 6.0;
/// Share of a truncated message's bar that is drawn as kept.
const KEPT_OF_CUT: f32 = 0.4;

/// Shows a bar in a cell of `size`. `share` (0 to 1) is the bar's part of the width. `status` selects the fill pattern:
/// filled (kept), hatched (cleared), yellow (summarized), hollow (dropped), half filled (truncated) or no bar (absent).
pub fn status_bar(
    ui: &mut Ui,
    share: f32,
    color: Color32,
    status: MessageStatus,
    size: Vec2,
) -> Response {
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    if ui.is_rect_visible(rect) && status != MessageStatus::Absent {
        let width = (share.clamp(0.0, 1.0) * rect.width()).max(MIN_WIDTH).min(rect.width());
        let bar = Rect::from_min_size(rect.min, vec2(width, rect.height()));
        paint(ui, bar, color, status);
    }
    response
}

fn paint(ui: &Ui, bar: Rect, color: Color32, status: MessageStatus) {
    let (painter, palette) = (ui.painter(), palette(ui));
    let radius = CornerRadius::same(space::RADIUS_SMALL.min((bar.width() / 2.0) as u8));
    match status {
        MessageStatus::Kept => {
            painter.rect_filled(bar, radius, color);
        }
        MessageStatus::Cleared => hatch(
            painter,
            bar,
            color,
            if palette.is_dark { palette.background } else { palette.panel },
        ),
        MessageStatus::Summarized => {
            painter.rect_filled(bar, radius, palette.kind_area(Kind::Summary));
        }
        MessageStatus::Dropped => hollow(painter, bar, radius, palette.outline),
        MessageStatus::Cut => {
            hollow(painter, bar, radius, color);
            let kept = Rect::from_min_size(bar.min, vec2(bar.width() * KEPT_OF_CUT, bar.height()));
            painter.rect_filled(kept, CornerRadius { ne: 0, se: 0, ..radius }, color);
        }
        MessageStatus::Absent => {}
    }
}

fn hollow(painter: &Painter, bar: Rect, radius: CornerRadius, color: Color32) {
    painter.rect_stroke(bar, radius, Stroke::new(1.0, color), StrokeKind::Inside);
}

/// Draws slanted stripes, clipped to the bar.
fn hatch(painter: &Painter, bar: Rect, color: Color32, gap: Color32) {
    painter.rect_filled(bar, CornerRadius::same(1), color);
    let painter = painter.with_clip_rect(bar.intersect(painter.clip_rect()));
    let stroke = Stroke::new(HATCH * 0.38, gap);
    let mut x = bar.left();
    while x < bar.right() + bar.height() {
        let (bottom, top) =
            (pos2(x - bar.height() - 1.0, bar.bottom() + 1.0), pos2(x + 1.0, bar.top() - 1.0));
        painter.add(Shape::line_segment([bottom, top], stroke));
        x += HATCH;
    }
}
