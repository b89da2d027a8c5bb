//! A severity sign whose shape is distinct without color: octagon, triangle or disc.

use crate::analysis::insight::Level;
use crate::app::state::model::tone::Tone;
use crate::app::ui::theme::palette;
use egui::{Pos2, Response, Sense, Shape, Stroke, Ui, Vec2, vec2};

/// Size of a sign, in points.
const SIZE: f32 = 13.0;

/// Returns the tone of a severity level.
pub fn level_tone(level: Level) -> Tone {
    match level {
        Level::Bad => Tone::Bad,
        Level::Warning => Tone::Warn,
        Level::Note => Tone::Weak,
    }
}

/// Shows the sign of a severity level.
pub fn level_sign(ui: &mut Ui, level: Level) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(SIZE), Sense::hover());
    if ui.is_rect_visible(rect) {
        paint(ui, rect.center(), level);
    }
    response
}

fn paint(ui: &Ui, center: Pos2, level: Level) {
    let palette = palette(ui);
    let (painter, color) = (ui.painter(), palette.tone(level_tone(level)));
    let ink = Stroke::new(1.5, palette.panel);
    match level {
        Level::Bad => {
            let corner = |i: usize| Vec2::angled((i as f32 + 0.5) * std::f32::consts::FRAC_PI_4);
            let corners = (0..8).map(|i| center + 6.5 * corner(i)).collect();
            painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
            let arm = 2.4;
            painter.line_segment([center - Vec2::splat(arm), center + Vec2::splat(arm)], ink);
            let other = vec2(arm, -arm);
            painter.line_segment([center - other, center + other], ink);
        }
        Level::Warning => {
            let corners = [vec2(0.0, -6.5), vec2(6.5, 5.5), vec2(-6.5, 5.5)];
            let corners = corners.map(|by| center + by).to_vec();
            painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
            painter.line_segment([center + vec2(0.0, -2.5), center + vec2(0.0, 1.5)], ink);
            painter.circle_filled(center + vec2(0.0, 3.6), 0.9, palette.panel);
        }
        Level::Note => {
            painter.circle_stroke(center, 5.5, Stroke::new(1.25, color));
            painter.circle_filled(center + vec2(0.0, -2.4), 0.9, color);
            let stem = Stroke::new(1.5, color);
            painter.line_segment([center + vec2(0.0, -0.4), center + vec2(0.0, 3.0)], stem);
        }
    }
}
