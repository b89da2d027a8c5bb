//! A small curve below a knob: the share of references at risk for each value, with the current value marked.

use super::knob_slider::travel;
use super::knob_spec::KnobSpec;
use crate::app::theme::palette;
use crate::units::Share;
use egui::{Pos2, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

/// Height of the curve, in points.
const HEIGHT: f32 = 26.0;
/// Number of points of the curve.
const POINTS: usize = 120;

/// Shows the curve below a knob's rail, aligned with it. `miss` returns the share (0 to 1) that a value misses.
pub fn knob_curve(
    ui: &mut Ui,
    spec: &KnobSpec<'_>,
    miss: &dyn Fn(f64) -> Share,
    said: &str,
) -> Response {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let name = format!("{}: {said}", spec.label);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let (palette, x) = (palette(ui), travel(rect.x_range()));
    let y = |share: Share| rect.bottom() - 1.0 - share.0.clamp(0.0, 1.0) as f32 * (HEIGHT - 4.0);
    let point = |at: f32, value: f64| pos2(x.min + at * x.span(), y(miss(value)));
    let line: Vec<Pos2> = (0..=POINTS)
        .map(|nth| nth as f32 / POINTS as f32)
        .map(|at| point(at, spec.snap(spec.at(at))))
        .collect();
    let painter = ui.painter();
    let mut mesh = egui::Mesh::default();
    let fill = palette.weak.gamma_multiply(0.14);
    for at in &line {
        mesh.colored_vertex(*at, fill);
        mesh.colored_vertex(pos2(at.x, rect.bottom() - 1.0), fill);
    }
    for i in (0..mesh.vertices.len().saturating_sub(2) as u32).step_by(2) {
        mesh.add_triangle(i, i + 1, i + 2);
        mesh.add_triangle(i + 1, i + 2, i + 3);
    }
    painter.add(mesh);
    painter.add(Shape::line(line, Stroke::new(1.25, palette.weak)));
    painter.hline(x, rect.bottom() - 1.0, palette.line());
    let now = point(spec.share(spec.value), spec.value);
    let mark = Stroke::new(1.0, palette.accent);
    painter.vline(now.x, rect.top() + 1.0..=rect.bottom() - 1.0, mark);
    painter.circle_filled(now, 2.5, palette.accent);
    response
}
