//! Renders a report's chart with the window's fonts and colors.

use crate::app::ui::picture::{OffscreenWindow, png};
use crate::app::ui::theme;
use crate::app::ui::theme::Palette;
use crate::exec;
use crate::report::{Anchor, Drawing, Ink, Shape};
use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, Theme, Vec2};
use std::path::Path;

/// Pixels per point: sharp on any screen and at 2× zoom.
const SCALE: f32 = 2.0;
/// Frames until the fonts are loaded.
const FRAMES: usize = 3;
/// Margin around the chart, in points.
const MARGIN: f32 = 16.0;

/// Writes a chart as a new PNG.
///
/// # Errors
///
/// Returns a one-line message that says what to do; nothing was written.
pub fn save_drawing(drawing: &Drawing, is_dark: bool, output: &Path) -> Result<(), String> {
    let theme = if is_dark { Theme::Dark } else { Theme::Light };
    let size = Vec2::new(drawing.width, drawing.height) + Vec2::splat(2.0 * MARGIN);
    let mut stage = OffscreenWindow::new(size, SCALE, theme);
    for _ in 0..FRAMES {
        stage.frame(Vec::new(), &mut |ui| {
            paint(ui.painter(), drawing, theme::of(is_dark));
        });
    }
    exec::write_file(output, &png(&stage.image())?)
}

fn paint(painter: &Painter, drawing: &Drawing, palette: &Palette) {
    let all = painter.clip_rect();
    painter.rect_filled(Rect::EVERYTHING.intersect(all), 0.0, palette.background);
    for shape in &drawing.shapes {
        draw(painter, shape, palette);
    }
}

fn draw(painter: &Painter, shape: &Shape, palette: &Palette) {
    match shape {
        Shape::Line { points, ink, width, dashes } => {
            let stroke = Stroke::new(*width, color(palette, *ink));
            let points: Vec<Pos2> = points.iter().copied().map(at).collect();
            if dashes.is_empty() {
                painter.line(points, stroke);
            } else {
                let lengths = |from: usize| dashes.iter().skip(from).step_by(2).copied().collect();
                let (strokes, gaps): (Vec<f32>, Vec<f32>) = (lengths(0), lengths(1));
                painter.extend(egui::Shape::dashed_line_with_offset(
                    &points, stroke, &strokes, &gaps, 0.0,
                ));
            }
        }
        Shape::Strokes { strokes, ink, width } => {
            let stroke = Stroke::new(*width, color(palette, *ink));
            for [from, to] in strokes {
                painter.line_segment([at(*from), at(*to)], stroke);
            }
        }
        Shape::Text { at: place, text, ink, anchor, size } => {
            let align = match anchor {
                Anchor::Start => Align2::LEFT_CENTER,
                Anchor::Middle => Align2::CENTER_CENTER,
                Anchor::End => Align2::RIGHT_CENTER,
            };
            let font = FontId::proportional(*size);
            painter.text(at(*place), align, text, font, color(palette, *ink));
        }
    }
}

fn at(point: [f32; 2]) -> Pos2 {
    Pos2::from(point) + Vec2::splat(MARGIN)
}

fn color(palette: &Palette, ink: Ink) -> Color32 {
    match ink {
        Ink::Ground => palette.background,
        Ink::Text => palette.text,
        Ink::Weak => palette.weak,
        Ink::Hairline => palette.hairline,
        Ink::Accent => palette.accent,
        Ink::Warn => palette.warn,
        Ink::Bad => palette.bad,
        Ink::Recorded => palette.recorded,
        Ink::Lane(lane) => palette.lane(lane),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_and_pictures_use_the_colors_of_the_window() {
        for ink in Ink::ALL {
            let [dark, light] = ink.colors();
            for (is_dark, hex) in [(true, dark), (false, light)] {
                let [r, g, b, _] = color(theme::of(is_dark), ink).to_array();
                let painted = u32::from_be_bytes([0, r, g, b]);
                assert_eq!(painted, hex, "{ink:?}, dark: {is_dark}");
            }
        }
        assert_eq!(crate::report::LANES, theme::LANES);
    }
}
