//! Lines of the plot: lanes with their events, reported usage, the reference curve, cursors.

use crate::app::ui::theme;
use crate::app::ui::theme::Palette;
use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::dashes::DashPattern;
use crate::app::ui::timeline::plot::input::LaneLine;
use crate::app::ui::timeline::plot::reduce::Columns;
use crate::app::ui::timeline::plot::{dashes, reduce};
use egui::epaint::CircleShape;
use egui::{Color32, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};

/// Size of a cross or square that marks a call.
const MARK: Vec2 = Vec2::splat(8.0);
/// Minimum distance of marks; closer ones are omitted.
const MARK_GAP: f32 = 12.0;
/// Minimum distance of marks of events without effect.
const NO_OP_GAP: f32 = 5.0;
/// Length of a dash of coinciding lanes.
const DASH: f32 = 6.0;
/// Dash and gap of a policy's own count.
pub(crate) const COUNT_DASH: [f32; 2] = [2.0, 3.0];

/// A lane's line: solid up to the first call without a file's content, then dashed.
struct Line {
    color: Color32,
    width: f32,
    points: Vec<Pos2>,
    solid: Vec<Pos2>,
    dashed: Vec<Pos2>,
}

/// Draws the lanes, the focused one last and strongest, then the reported usage. Lanes below a coinciding lane are drawn
/// as dashes on it.
pub(crate) fn draw(chart: &Chart<'_>, _ui: &Ui, shapes: &mut Vec<Shape>) {
    let lanes = chart.input.lanes.iter().zip(&chart.visible.lanes);
    let mut lanes: Vec<_> = lanes.collect();
    lanes.sort_by_key(|(lane, _)| lane.focused);
    let curves: Vec<Line> =
        lanes.iter().map(|(lane, curve)| line(chart, lane, chart.points(curve))).collect();
    for (nth, line) in curves.iter().enumerate() {
        let stroke = Stroke::new(line.width, line.color);
        shapes.push(Shape::line(line.solid.clone(), stroke));
        let pattern = dash_pattern(nth, &curves);
        let dashes = dashes::dashes(&line.dashed, pattern).into_iter();
        shapes.extend(dashes.map(|dash| Shape::line(dash, stroke)));
    }
    for (nth, line) in curves.iter().enumerate() {
        let above: Vec<&[Pos2]> = curves[nth + 1..].iter().map(|l| &*l.solid).collect();
        let (stroke, gap) = (Stroke::new(1.5, line.color), DASH * above.len() as f32);
        for shared in dashes::shared_runs(&line.points, &above) {
            let points = &line.points[shared];
            let offset = DASH * nth as f32;
            let dashes = Shape::dashed_line_with_offset(points, stroke, &[DASH], &[gap], offset);
            shapes.extend(dashes);
        }
    }
    if let Some(lane) = chart.input.counting() {
        let points = chart.points(&chart.visible.own_count);
        let stroke = Stroke::new(1.25, color(lane));
        let [dash, gap] = COUNT_DASH;
        shapes.extend(Shape::dashed_line(&points, stroke, dash, gap));
    }
    let reported = chart.palette.recorded.gamma_multiply(0.8);
    let dots = chart.points(&chart.visible.reported).into_iter();
    shapes.extend(dots.map(|at| Shape::circle_filled(at, 1.25, reported)));
}

fn line(chart: &Chart<'_>, lane: &LaneLine<'_>, points: Vec<Pos2>) -> Line {
    let (solid, dashed) = match lane.first_removal {
        Some(call) => dashes::split_at(&points, chart.x(call)),
        None => (points.clone(), Vec::new()),
    };
    Line { color: color(lane), width: if lane.focused { 2.5 } else { 1.5 }, points, solid, dashed }
}

/// Returns the dash pattern of a line. The dashes of coinciding lines alternate with a gap.
fn dash_pattern(nth: usize, lines: &[Line]) -> DashPattern {
    let coincides = |other: &&Line| {
        let other: &[Pos2] = &other.dashed;
        !dashes::shared_runs(&lines[nth].dashed, &[other]).is_empty()
    };
    let below = lines[..nth].iter().filter(coincides).count();
    let above = lines[nth + 1..].iter().filter(coincides).count();
    DashPattern { length: DASH, nth: below, of: below + above + 2 }
}

/// Returns a lane's color, dimmed while it is stale.
fn color(lane: &LaneLine<'_>) -> Color32 {
    if lane.dim { lane.color.gamma_multiply(0.35) } else { lane.color }
}

/// Draws the events of the lanes: compactions as dots on the line, events without effect as strokes below it, an end of
/// the lane's system as a square, and the first overflow of each run as a cross.
pub(crate) fn draw_events(chart: &Chart<'_>, _ui: &Ui, shapes: &mut Vec<Shape>) {
    let lanes = chart.input.lanes.iter().zip(&chart.session.overflows);
    let mut lanes: Vec<_> = lanes.collect();
    lanes.sort_by_key(|(lane, _)| lane.focused);
    for (lane, overflows) in lanes {
        draw_events_of(chart, lane, overflows, shapes);
    }
}

fn draw_events_of(
    chart: &Chart<'_>,
    lane: &LaneLine<'_>,
    overflows: &[usize],
    shapes: &mut Vec<Shape>,
) {
    let (color, background) = (color(lane), chart.palette.background);
    for at in marks(chart, lane, lane.no_ops, NO_OP_GAP) {
        let stroke = Stroke::new(1.0, color.gamma_multiply(0.8));
        shapes.push(Shape::vline(at.x, at.y + 4.0..=at.y + 8.0, stroke));
    }
    for at in marks(chart, lane, lane.compactions, MARK_GAP) {
        shapes.push(ring(at, background, Stroke::new(1.5, color)));
    }
    let plot = chart.areas.plot.shrink2(MARK);
    for at in marks(chart, lane, overflows, MARK_GAP) {
        shapes.extend(cross(at.clamp(plot.min, plot.max), chart.palette));
    }
    for at in marks(chart, lane, lane.halts, MARK_GAP) {
        let square = Rect::from_center_size(at.clamp(plot.min, plot.max), MARK);
        shapes.push(Shape::rect_filled(square, 1.0, chart.palette.bad));
        let outline = Stroke::new(1.5, background);
        shapes.push(Shape::rect_stroke(square, 1.0, outline, StrokeKind::Outside));
    }
}

/// Returns the positions of the visible calls of a lane, thinned out to a minimum distance.
fn marks(chart: &Chart<'_>, lane: &LaneLine<'_>, calls: &[usize], gap: f32) -> Vec<Pos2> {
    let mut out: Vec<Pos2> = Vec::new();
    for call in calls.iter().copied().filter(|call| chart.shows(*call)) {
        let x = chart.x(call);
        if let Some(sample) = lane.samples.get(call)
            && out.last().is_none_or(|last| x >= last.x + gap)
        {
            out.push(pos2(x, chart.y(sample.tokens.as_f64())));
        }
    }
    out
}

fn ring(center: Pos2, fill: Color32, stroke: Stroke) -> Shape {
    Shape::Circle(CircleShape { center, radius: 3.0, fill, stroke })
}

fn cross(at: Pos2, palette: &Palette) -> impl Iterator<Item = Shape> {
    let arm = MARK.x / 2.0;
    let strokes = [Stroke::new(4.0, palette.background), Stroke::new(2.0, palette.bad)];
    strokes.into_iter().flat_map(move |stroke| {
        [vec2(arm, arm), vec2(arm, -arm)]
            .map(|arm| Shape::line_segment([at - arm, at + arm], stroke))
    })
}

/// Draws the reference curve, thin and dotted, with its name at the end.
pub(crate) fn draw_reference(chart: &Chart<'_>, ui: &Ui, shapes: &mut Vec<Shape>) {
    let Some(reference) = chart.input.reference_curve else {
        return;
    };
    let (plot, color) = (chart.areas.plot, reference.color);
    let columns = Columns {
        from: chart.view.from,
        to: chart.view.to,
        count: plot.width().max(1.0) as usize,
        tolerance: 0.0,
    };
    let points = chart.points(&reduce::curve(reference.samples, chart.axis, &columns));
    shapes.extend(Shape::dotted_line(&points, color, 4.0, 1.0));
    let end = points.iter().rev().find(|at| plot.x_range().contains(at.x));
    let end = end.copied();
    shapes.push(Shape::line(points, Stroke::new(1.0, color.gamma_multiply(0.45))));
    let Some(end) = end else {
        return;
    };
    let font = theme::small_strong().resolve(ui.style());
    let name = reference.name.to_owned();
    let name = ui.painter().layout_no_wrap(name, font, color);
    let left = (end.x - name.size().x - 10.0).max(plot.left() + 4.0);
    let top = (end.y - name.size().y - 6.0).clamp(plot.top() + 2.0, plot.bottom() - 16.0);
    let behind = Rect::from_min_size(pos2(left, top), name.size()).expand2(vec2(4.0, 1.0));
    let fill = chart.palette.background.gamma_multiply(0.8);
    shapes.push(Shape::rect_filled(behind, 3.0, fill));
    shapes.push(Shape::galley(pos2(left, top), name, color));
}

/// Paints the selected call as a line, and the hovered one as a fainter line. Not clipped, so that the first and the last
/// call are marked like others.
pub(crate) fn paint_cursors(ui: &Ui, chart: &Chart<'_>) {
    let (painter, palette) = (ui.painter(), chart.palette);
    let span = chart.areas.flags.bottom() - 4.0..=chart.areas.plot.bottom();
    let faint = palette.text.gamma_multiply(0.4);
    let hovered = chart.hovered.map(|call| (call, faint));
    let selected = chart.input.selected.map(|call| (call, palette.accent));
    if let Some(call) = chart.input.compared.filter(|call| chart.shows(*call)) {
        let x = painter.round_to_pixel_center(chart.x(call));
        let ends = [*span.start(), *span.end()].map(|y| pos2(x, y));
        let stroke = Stroke::new(1.0, palette.accent);
        painter.extend(Shape::dashed_line(&ends, stroke, 3.0, 3.0));
    }
    for (call, color) in hovered.into_iter().chain(selected) {
        if !chart.shows(call) {
            continue;
        }
        let x = chart.x(call);
        let line = painter.round_to_pixel_center(x);
        painter.vline(line, span.clone(), Stroke::new(1.0, color));
        for lane in chart.input.lanes.iter().filter(|lane| !lane.dim) {
            let tokens = lane.samples.get(call).map(|sample| sample.tokens.as_f64());
            let at = tokens.map(|tokens| pos2(x, chart.y(tokens)));
            if let Some(at) = at.filter(|at| chart.areas.plot.y_range().contains(at.y)) {
                painter.add(ring(at, lane.color, Stroke::new(1.0, palette.background)));
            }
        }
    }
}
