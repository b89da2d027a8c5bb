//! Generic scatter plot: points on two axes, such as cost and references at risk.

use super::landmarks::{self, Obstacles};
use crate::app::theme::{Palette, palette};
use crate::app::timeline::plot::ticks;
use egui::{
    Align2, Color32, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, TextStyle, Ui,
    Vec2, WidgetInfo, pos2, vec2,
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
    /// Point on the front: drawn larger and joined by a line with the others.
    pub is_front: bool,
}

/// A named point.
#[derive(Clone, Debug, PartialEq)]
pub struct Landmark {
    /// Position.
    pub at: [f64; 2],
    /// Its name.
    pub name: String,
    /// Its color.
    pub color: Color32,
}

/// The input of the plot.
pub struct ScatterInput<'a> {
    /// The points.
    pub dots: &'a [Dot],
    /// Points joined by the line of the front, from left to right.
    pub line: &'a [usize],
    /// Points with names.
    pub landmarks: &'a [Landmark],
    /// A named horizontal line.
    pub level: Option<(f64, &'a str)>,
    /// A point with a ring.
    pub ringed: Option<usize>,
    /// Names of the axes.
    pub axes: [&'a str; 2],
    /// Formats a value of the horizontal axis.
    pub write_x: &'a dyn Fn(f64) -> String,
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

/// Space around the plot for the numbers and names of the axes.
const LEFT: f32 = 44.0;
const RIGHT: f32 = 14.0;
const TOP: f32 = 20.0;
const BOTTOM: f32 = 22.0;
/// Distance within which the pointer hits a point.
const NEAR: f32 = 12.0;
/// Radius of a point, and of a point on the front.
const RADIUS: [f32; 2] = [2.6, 4.2];

/// Draws the plot in the remaining space.
pub fn scatter(ui: &mut Ui, input: &ScatterInput<'_>) -> ScatterResponse {
    let size = ui.available_size().max(vec2(180.0, 110.0));
    let (outer, response) = ui.allocate_exact_size(size, Sense::CLICK);
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "settings that were tried"));
    let plot = Rect::from_min_max(outer.min + vec2(LEFT, TOP), outer.max - vec2(RIGHT, BOTTOM));
    let view = View {
        plot,
        bounds: bounds(input),
    };
    let places: Vec<Pos2> = input.dots.iter().map(|dot| view.place(dot.at)).collect();
    let texts = ground(ui, input, &view, &places);
    let line: Vec<Pos2> = input.line.iter().map(|idx| places[*idx]).collect();
    let painter = ui.painter().with_clip_rect(outer.intersect(ui.clip_rect()));
    painter.add(Shape::line(
        stairs(&line),
        Stroke::new(1.0, palette(ui).weak),
    ));
    paint_dots(&painter, palette(ui), input.dots, &places);
    let named = input.landmarks.iter();
    landmarks::paint(
        ui,
        &painter,
        outer,
        &Obstacles {
            points: &places,
            texts: &texts,
        },
        named.map(|mark| (view.place(mark.at), mark.name.as_str(), mark.color)),
    );
    let hovered = response
        .hover_pos()
        .and_then(|at| nearest(at, input.dots, &places));
    for idx in [input.ringed, hovered].into_iter().flatten() {
        let ring = Stroke::new(1.5, palette(ui).accent);
        painter.circle_stroke(places[idx], RADIUS[1] + 3.5, ring);
    }
    ScatterResponse {
        clicked: hovered.filter(|_| response.clicked()),
        hovered,
        response,
    }
}

/// The transform from values to the screen.
struct View {
    plot: Rect,
    bounds: [[f64; 2]; 2],
}

impl View {
    fn place(&self, [x, y]: [f64; 2]) -> Pos2 {
        let share = |value: f64, [low, high]: [f64; 2]| {
            ((value - low) / (high - low)).clamp(-0.02, 1.02) as f32
        };
        let [across, up] = self.bounds;
        pos2(
            self.plot.left() + share(x, across) * self.plot.width(),
            self.plot.bottom() - share(y, up) * self.plot.height(),
        )
    }
}

/// Returns the ranges of the axes: all included points fit; the vertical axis starts at 0.
fn bounds(input: &ScatterInput<'_>) -> [[f64; 2]; 2] {
    let shown = input
        .dots
        .iter()
        .filter(|dot| !dot.is_out)
        .map(|dot| dot.at);
    let all: Vec<[f64; 2]> = shown
        .chain(input.landmarks.iter().map(|mark| mark.at))
        .collect();
    let least = |axis: usize| all.iter().map(|at| at[axis]).fold(f64::INFINITY, f64::min);
    let most = |axis: usize| {
        all.iter()
            .map(|at| at[axis])
            .fold(f64::NEG_INFINITY, f64::max)
    };
    if all.is_empty() {
        return [[0.0, 1.0], [0.0, 1.0]];
    }
    let (low, high) = (least(0), most(0));
    let room = ((high - low) * 0.06).max(high.abs() * 0.01).max(1e-9);
    let top = most(1).max(input.level.map_or(0.0, |(level, _)| level));
    [
        [low - room, high + room],
        [-0.04 * top.max(4.0), top.max(4.0) * 1.08],
    ]
}

/// Paints the axes and the horizontal line. Returns the rectangles of their texts.
fn ground(ui: &Ui, input: &ScatterInput<'_>, view: &View, dots: &[Pos2]) -> Vec<Rect> {
    let (painter, palette, plot) = (ui.painter(), palette(ui), view.plot);
    let font = TextStyle::Small.resolve(ui.style());
    let write = |at: Pos2, anchor: Align2, said: &str| {
        painter.text(at, anchor, said, font.clone(), palette.weak)
    };
    let [[left, right], [_, top]] = view.bounds;
    let [across, up] = input.axes;
    let mut texts = vec![
        write(
            pos2(plot.left() - 36.0, plot.top() - 11.0),
            Align2::LEFT_CENTER,
            up,
        ),
        write(
            pos2(plot.right(), plot.bottom() + 12.0),
            Align2::RIGHT_CENTER,
            across,
        ),
    ];
    let end = texts[1].left() - 28.0;
    let most = (plot.height() / 28.0).clamp(2.0, 6.0) as usize;
    for value in ticks(0.0, top, most, true) {
        let y = painter.round_to_pixel_center(view.place([left, value]).y);
        painter.hline(plot.x_range(), y, palette.line());
        let at = pos2(plot.left() - 6.0, y);
        write(
            at,
            Align2::RIGHT_CENTER,
            &crate::app::widgets::grouped(value),
        );
    }
    let most = (plot.width() / 90.0).clamp(2.0, 8.0) as usize;
    for value in ticks(left, right, most, false) {
        let x = painter.round_to_pixel_center(view.place([value, 0.0]).x);
        let mark = plot.bottom()..=plot.bottom() + 4.0;
        painter.vline(x, mark, Stroke::new(1.0, palette.outline));
        if x < end {
            let at = pos2(x, plot.bottom() + 12.0);
            write(at, Align2::CENTER_CENTER, &(input.write_x)(value));
        }
    }
    if let Some((level, name)) = input.level {
        let y = painter.round_to_pixel_center(view.place([left, level]).y);
        let ends = [pos2(plot.left(), y), pos2(plot.right(), y)];
        let stroke = Stroke::new(1.0, palette.weak);
        painter.extend(Shape::dashed_line(&ends, stroke, 3.0, 4.0));
        let galley = painter.layout_no_wrap(name.to_owned(), font.clone(), palette.weak);
        let size = galley.size();
        // At the end of the line, above or below it, where it covers the fewest points.
        let corners = [
            pos2(plot.right() - size.x, y - size.y),
            pos2(plot.right() - size.x, y + 1.0),
            pos2(plot.left() + 2.0, y - size.y),
            pos2(plot.left() + 2.0, y + 1.0),
        ];
        let places = corners.map(|corner| Rect::from_min_size(corner, size));
        let covered = |place: &Rect| dots.iter().filter(|at| place.contains(**at)).count();
        let place = places.into_iter().min_by_key(covered);
        if let Some(place) = place {
            painter.galley(place.min, galley, palette.weak);
            texts.push(place);
        }
    }
    texts
}

/// A corner between two front points has the cost of one and the risk of the other.
fn stairs(line: &[Pos2]) -> Vec<Pos2> {
    let mut out = Vec::with_capacity(2 * line.len());
    for at in line {
        if let Some(last) = out.last().copied() {
            let last: Pos2 = last;
            out.push(pos2(at.x, last.y));
        }
        out.push(*at);
    }
    out
}

/// Paints excluded points at the bottom and front points on top.
fn paint_dots(painter: &Painter, palette: &Palette, dots: &[Dot], places: &[Pos2]) {
    let order = |dot: &Dot| (!dot.is_out, dot.is_front);
    for layer in [(false, false), (true, false), (true, true)] {
        let of_layer = dots
            .iter()
            .zip(places)
            .filter(|(dot, _)| order(dot) == layer);
        for (dot, at) in of_layer {
            if dot.is_out {
                let stroke = Stroke::new(1.0, palette.outline.gamma_multiply(0.8));
                let arm = Vec2::splat(2.2);
                painter.line_segment([*at - arm, *at + arm], stroke);
                let arm = vec2(2.2, -2.2);
                painter.line_segment([*at - arm, *at + arm], stroke);
            } else {
                let radius = RADIUS[usize::from(dot.is_front)];
                mark(painter, *at, radius, dot);
            }
        }
    }
}

/// Paints one of six shapes, which distinguish lanes without color.
fn mark(painter: &Painter, at: Pos2, radius: f32, dot: &Dot) {
    let edge = Stroke::new(if dot.is_front { 1.5 } else { 1.0 }, dot.edge);
    paint_shape(painter, at, radius, (dot.shape, dot.fill, edge));
}

/// Paints a shape: a disc, a square, a diamond, triangles up and down, a hexagon.
pub fn paint_shape(
    painter: &Painter,
    at: Pos2,
    radius: f32,
    (shape, fill, edge): (usize, Color32, Stroke),
) {
    let (corners, turn) = match shape % 6 {
        0 => {
            painter.circle(at, radius, fill, edge);
            return;
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
    let points = (0..corners).map(corner).collect();
    painter.add(Shape::convex_polygon(points, fill, edge));
}

/// Returns the point nearest to the pointer; included points take precedence.
fn nearest(pointer: Pos2, dots: &[Dot], places: &[Pos2]) -> Option<usize> {
    let near = places.iter().enumerate().filter_map(|(idx, at)| {
        let distance = at.distance(pointer);
        (distance <= NEAR).then_some((dots[idx].is_out, distance, idx))
    });
    near.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))
        .map(|(.., idx)| idx)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(at: [f64; 2], is_out: bool) -> Dot {
        Dot {
            at,
            fill: Color32::WHITE,
            edge: Color32::WHITE,
            shape: 0,
            is_out,
            is_front: false,
        }
    }

    #[test]
    fn what_is_out_of_the_question_stretches_no_axis() {
        let dots = [
            dot([4.0, 10.0], false),
            dot([6.0, 0.0], false),
            dot([900.0, 800.0], true),
        ];
        let input = ScatterInput {
            dots: &dots,
            line: &[],
            landmarks: &[],
            level: None,
            ringed: None,
            axes: ["", ""],
            write_x: &|x| x.to_string(),
        };
        let [[left, right], [bottom, top]] = bounds(&input);
        assert!(left < 4.0 && left > 3.5 && right > 6.0 && right < 6.5);
        assert!(bottom < 0.0 && top > 10.0 && top < 12.0);
    }

    #[test]
    fn the_pointer_finds_what_is_in_question_before_what_is_not() {
        let dots = [dot([0.0, 0.0], true), dot([0.0, 0.0], false)];
        let places = [pos2(10.0, 10.0), pos2(15.0, 10.0)];
        assert_eq!(nearest(pos2(10.0, 10.0), &dots, &places), Some(1));
        assert_eq!(nearest(pos2(40.0, 10.0), &dots, &places), None);
    }

    #[test]
    fn the_line_of_the_best_goes_in_steps() {
        let line = [pos2(0.0, 5.0), pos2(4.0, 9.0)];
        assert_eq!(stairs(&line), [line[0], pos2(4.0, 5.0), line[1]]);
    }
}
