//! A scatter plot: points on two axes, such as cost and peak.

use crate::app::ui::plots::axes::AxisValues;
use crate::app::ui::plots::layer::Layer;
use crate::app::ui::plots::named_points::Obstacles;
use crate::app::ui::plots::{axes, named_points};
use crate::app::ui::theme::{Palette, palette};
use crate::app::ui::widgets;
use egui::epaint::CircleShape;
use egui::{
    Color32, CursorIcon, Pos2, Rect, Response, Role, Sense, Shape, Stroke, TextStyle, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};
use egui_plot::{
    AxisHints, HLine, Line, LineStyle, PlotBounds, PlotPoint, PlotResponse, PlotTransform,
};

/// A point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Position.
    pub at: [f64; 2],
    /// Fill color.
    pub fill: Color32,
    /// Outline color.
    pub edge: Color32,
    /// Index of one of the six shapes.
    pub shape: usize,
    /// Excluded point: drawn as a small cross.
    pub is_out: bool,
    /// Point on the Pareto front: drawn larger.
    pub is_front: bool,
}

/// A named point.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPoint {
    /// Position.
    pub at: [f64; 2],
    /// Its name.
    pub name: String,
    /// Its color.
    pub color: Color32,
}

/// A horizontal line.
#[derive(Clone, Copy, Debug)]
pub struct Level<'a> {
    /// Its position on the vertical axis.
    pub value: f64,
    /// Its name.
    pub name: &'a str,
}

/// The input of the plot.
pub struct ScatterInput<'a> {
    /// The points.
    pub dots: &'a [Dot],
    /// Points of the Pareto front, from left to right, joined by a line in steps.
    pub front: &'a [usize],
    /// Points with names, drawn on top.
    pub named: &'a [NamedPoint],
    /// A named horizontal line.
    pub level: Option<Level<'a>>,
    /// A point with a ring.
    pub ringed: Option<usize>,
    /// Names of the axes.
    pub axes: [&'a str; 2],
    /// Formats a value of the horizontal axis.
    pub format_x: &'a dyn Fn(f64) -> String,
}

/// Result of user input.
#[derive(Debug)]
pub struct ScatterResponse {
    /// The point under the pointer.
    pub hovered: Option<usize>,
    /// The point that was clicked.
    pub clicked: Option<usize>,
    /// Response of the whole plot.
    pub response: Response,
}

/// Minimum width of the vertical axis and height of the horizontal one.
const AXES: [f32; 2] = [52.0, 32.0];
/// Minimum distances between numbers of the horizontal and of the vertical axis.
const NUMBERS: [f64; 2] = [90.0, 28.0];
/// Distance within which the pointer hits a point.
const NEAR: f32 = 12.0;
/// Radius of a point, and of a point on the front.
const RADIUS: [f32; 2] = [2.6, 4.2];

/// Shows the plot in the remaining space.
pub fn scatter(ui: &mut Ui, input: &ScatterInput<'_>) -> ScatterResponse {
    let shown = ui.scope(|ui| show(ui, input));
    let name = || WidgetInfo::labeled(Role::Canvas, true, "settings that were tried");
    shown.response.widget_info(name);
    let PlotResponse { response, transform, .. } = shown.inner;
    let positions = positions(input.dots, &transform);
    let cursor = response.hover_pos();
    let hovered = cursor.and_then(|at| nearest(at, input.dots, &positions));
    for idx in [input.ringed, hovered].into_iter().flatten() {
        let ring = Stroke::new(1.5, palette(ui).accent);
        let painter = ui.painter_at(*transform.frame());
        painter.circle_stroke(positions[idx], RADIUS[1] + 3.5, ring);
    }
    if hovered.is_some() {
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    }
    ScatterResponse { clicked: hovered.filter(|_| response.clicked()), hovered, response }
}

fn show(ui: &mut Ui, input: &ScatterInput<'_>) -> PlotResponse<()> {
    let weak = palette(ui).weak;
    let [x_title, y_title] = input.axes.map(|text| axes::title(ui, text));
    let x_axis = axes::axis(ui, AxisHints::new_x(), input.format_x);
    let y_axis = axes::axis(ui, AxisHints::new_y(), widgets::grouped);
    axes::plain_plot(ui, "scatter")
        .sense(Sense::CLICK)
        .min_size(vec2(180.0, 110.0))
        .custom_x_axes(vec![x_axis.label(x_title).min_thickness(AXES[1])])
        .custom_y_axes(vec![y_axis.label(y_title).min_thickness(AXES[0])])
        .show_grid([false, true])
        .x_grid_spacer(|input| axes::round_values(&input, NUMBERS[0], AxisValues::Any))
        .y_grid_spacer(|mut input| {
            input.bounds.0 = 0.0;
            axes::round_values(&input, NUMBERS[1], AxisValues::Whole)
        })
        .show(ui, |plot| {
            plot.set_plot_bounds(bounds(input));
            if let Some(level) = input.level {
                let line =
                    HLine::new(level.name, level.value).style(LineStyle::Dashed { length: 4.0 });
                plot.hline(line.color(weak));
            }
            let front: Vec<[f64; 2]> = input.front.iter().map(|i| input.dots[*i].at).collect();
            let front = Line::new("front", stairs(&front)).allow_band(false);
            plot.line(front.color(weak).width(1.0));
            plot.add(Layer::new("points", |ui, transform, shapes| {
                draw(ui, input, transform, shapes);
            }));
        })
}

/// Returns the ranges of the axes: all included points fit; the vertical axis starts at 0.
fn bounds(input: &ScatterInput<'_>) -> PlotBounds {
    let included = input.dots.iter().filter(|dot| !dot.is_out);
    let named = input.named.iter().map(|point| point.at);
    let mut all = PlotBounds::NOTHING;
    for at in included.map(|dot| dot.at).chain(named) {
        all.extend_with(&PlotPoint::from(at));
    }
    if !all.is_finite() {
        return PlotBounds::from_min_max([0.0, 0.0], [1.0, 1.0]);
    }
    let ([left, _], [right, top]) = (all.min(), all.max());
    let margin = ((right - left) * 0.06).max(right.abs() * 0.01).max(1e-9);
    let top = top.max(input.level.map_or(0.0, |level| level.value)).max(4.0);
    PlotBounds::from_min_max([left - margin, -0.04 * top], [right + margin, top * 1.08])
}

/// Returns the screen positions of points. A point beyond an axis is placed at its end.
fn positions(dots: &[Dot], transform: &PlotTransform) -> Vec<Pos2> {
    let frame = transform.frame().shrink(RADIUS[0]);
    dots.iter()
        .map(|dot| {
            let at = transform.position_from_point(&PlotPoint::from(dot.at));
            at.clamp(frame.min, frame.max)
        })
        .collect()
}

/// Draws the points, the name of the level and the named points.
fn draw(ui: &Ui, input: &ScatterInput<'_>, transform: &PlotTransform, shapes: &mut Vec<Shape>) {
    let positions = positions(input.dots, transform);
    draw_dots(palette(ui), input.dots, &positions, shapes);
    let mut texts = Vec::new();
    if let Some(level) = input.level {
        texts.push(draw_level_name(ui, level, transform, &positions, shapes));
    }
    let obstacles = Obstacles { points: &positions, texts: &texts };
    let named = input.named.iter().map(|mark| {
        let at = transform.position_from_point(&PlotPoint::from(mark.at));
        (at, mark.name.as_str(), mark.color)
    });
    named_points::draw(ui, *transform.frame(), &obstacles, named, shapes);
}

/// Draws the name of the level at an end of its line, above or below it, where it covers the fewest points. Returns its
/// rectangle.
fn draw_level_name(
    ui: &Ui,
    level: Level<'_>,
    transform: &PlotTransform,
    dots: &[Pos2],
    shapes: &mut Vec<Shape>,
) -> Rect {
    let (frame, y) = (transform.frame(), transform.position_from_point_y(level.value));
    let font = TextStyle::Small.resolve(ui.style());
    let weak = palette(ui).weak;
    let name = level.name.to_owned();
    let galley = ui.painter().layout_no_wrap(name, font, weak);
    let size = galley.size();
    let corner = |x: f32, y: f32| Rect::from_min_size(pos2(x, y), size);
    let [left, right] = [frame.left() + 2.0, frame.right() - size.x];
    let mut place = corner(right, y - size.y);
    let covered = |place: &Rect| dots.iter().filter(|at| place.contains(**at)).count();
    for other in [corner(right, y + 1.0), corner(left, y - size.y), corner(left, y + 1.0)] {
        if frame.contains_rect(other) && covered(&other) < covered(&place) {
            place = other;
        }
    }
    shapes.push(Shape::galley(place.min, galley, weak));
    place
}

/// Returns the corners of a line in steps: it is horizontal up to the next point, then vertical.
fn stairs(front: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut out: Vec<[f64; 2]> = Vec::with_capacity(2 * front.len());
    for [x, y] in front {
        out.extend(out.last().map(|[_, before]| [*x, *before]));
        out.push([*x, *y]);
    }
    out
}

/// Draws excluded points at the bottom and front points on top.
fn draw_dots(palette: &Palette, dots: &[Dot], positions: &[Pos2], shapes: &mut Vec<Shape>) {
    let mut all: Vec<_> = dots.iter().zip(positions).collect();
    all.sort_by_key(|(dot, _)| (!dot.is_out, dot.is_front));
    for (dot, at) in all {
        if dot.is_out {
            let stroke = Stroke::new(1.0, palette.outline.gamma_multiply(0.8));
            for arm in [Vec2::splat(2.2), vec2(2.2, -2.2)] {
                shapes.push(Shape::line_segment([*at - arm, *at + arm], stroke));
            }
        } else {
            let edge = Stroke::new(if dot.is_front { 1.5 } else { 1.0 }, dot.edge);
            let radius = RADIUS[usize::from(dot.is_front)];
            shapes.push(marker(*at, radius, dot.shape, dot.fill, edge));
        }
    }
}

/// Returns one of six shapes, which distinguish lanes without color: a disc, a square, a diamond, triangles up and down,
/// a hexagon.
pub fn marker(at: Pos2, radius: f32, shape: usize, fill: Color32, stroke: Stroke) -> Shape {
    let (corners, turn) = match shape % 6 {
        0 => {
            return Shape::Circle(CircleShape { center: at, radius, fill, stroke });
        }
        1 => (4, 45.0_f32),
        2 => (4, 0.0),
        3 => (3, -90.0),
        4 => (3, 90.0),
        _ => (6, 0.0),
    };
    let corner = |nth: usize| {
        let degrees = turn + 360.0 * nth as f32 / corners as f32;
        at + radius * 1.25 * Vec2::angled(degrees.to_radians())
    };
    Shape::convex_polygon((0..corners).map(corner).collect(), fill, stroke)
}

/// Returns the point nearest to the pointer; included points take precedence.
fn nearest(pointer: Pos2, dots: &[Dot], positions: &[Pos2]) -> Option<usize> {
    let near = positions.iter().enumerate().filter_map(|(idx, at)| {
        let distance = at.distance(pointer);
        (distance <= NEAR).then_some((dots[idx].is_out, distance, idx))
    });
    near.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(.., idx)| idx)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(at: [f64; 2], is_out: bool) -> Dot {
        Dot { at, fill: Color32::WHITE, edge: Color32::WHITE, shape: 0, is_out, is_front: false }
    }

    #[test]
    fn excluded_points_do_not_extend_the_axes() {
        let dots = [dot([4.0, 10.0], false), dot([6.0, 0.0], false), dot([900.0, 800.0], true)];
        let found = bounds(&ScatterInput {
            dots: &dots,
            front: &[],
            named: &[],
            level: None,
            ringed: None,
            axes: ["", ""],
            format_x: &|x| x.to_string(),
        });
        let ([left, bottom], [right, top]) = (found.min(), found.max());
        assert!(left < 4.0 && left > 3.5 && right > 6.0 && right < 6.5);
        assert!(bottom < 0.0 && top > 10.0 && top < 12.0);
    }

    #[test]
    fn the_pointer_finds_included_points_before_excluded_ones() {
        let dots = [dot([0.0, 0.0], true), dot([0.0, 0.0], false)];
        let positions = [pos2(10.0, 10.0), pos2(15.0, 10.0)];
        assert_eq!(nearest(pos2(10.0, 10.0), &dots, &positions), Some(1));
        assert_eq!(nearest(pos2(40.0, 10.0), &dots, &positions), None);
    }

    #[test]
    fn the_front_is_a_line_in_steps() {
        let front = [[0.0, 5.0], [4.0, 9.0]];
        assert_eq!(stairs(&front), [front[0], [4.0, 5.0], front[1]]);
    }
}
