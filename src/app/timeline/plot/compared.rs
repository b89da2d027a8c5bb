//! The curve of another session on the axis of the open one.

use super::axis::CallAxis;
use super::chart::Chart;
use super::input::{ComparedCurve, TimelineInput};
use super::reduce::{self, Columns, Curve};
use crate::units::Tokens;
use egui::{Shape, Stroke, TextStyle, Ui, pos2};

/// Width of the line and of the outline that separates it from the area, in points.
const WIDTHS: [f32; 2] = [2.0, 4.5];

/// Returns the positions of the other session per position of the open one.
fn scale(axis: CallAxis<'_>, other: &ComparedCurve<'_>) -> f64 {
    if other.is_by_share {
        axis.of_compared(other).end() / axis.end()
    } else {
        1.0
    }
}

/// Returns the visible part of the curve.
pub(super) fn curve(input: &TimelineInput<'_>, axis: CallAxis<'_>, columns: &Columns) -> Curve {
    let Some(other) = input.compared_session else {
        return Curve::new();
    };
    let scale = scale(axis, other);
    let columns = Columns {
        from: columns.from * scale,
        to: columns.to * scale,
        ..*columns
    };
    let contexts = other.contexts;
    let points = reduce::curve_of(
        contexts,
        |tokens| *tokens,
        axis.of_compared(other),
        &columns,
    );
    let point = |[x, tokens]: [f64; 2]| [x / scale, tokens];
    points.into_iter().map(point).collect()
}

/// Returns the call of the other session at the position of a call; `None` after its end.
pub(super) fn call_at(axis: CallAxis<'_>, other: &ComparedCurve<'_>, call: usize) -> Option<usize> {
    let (x, its_axis) = (axis.x(call) * scale(axis, other), axis.of_compared(other));
    let is_there = !other.contexts.is_empty() && x <= its_axis.end() + 1e-9;
    is_there.then(|| its_axis.nearest(x))
}

/// Returns the context window and the usable window of the other session that differ from those of the open one at any
/// visible call.
fn own_limits(chart: &Chart<'_>, other: &ComparedCurve<'_>) -> [Option<Tokens>; 2] {
    let reserve = chart.input.output_reserve;
    let differs = |nth: usize, limit: &Tokens| {
        let mut runs = chart.visible.windows.iter();
        runs.any(|run| [run.window, run.window - reserve][nth] != *limit)
    };
    [0, 1].map(|nth| Some(other.limits[nth]).filter(|limit| differs(nth, limit)))
}

/// Draws lines for the context window and, dashed, for the usable window of the other session, with their names.
fn draw_limits(chart: &Chart<'_>, ui: &Ui, other: &ComparedCurve<'_>, shapes: &mut Vec<Shape>) {
    let plot = chart.areas.plot;
    let stroke = Stroke::new(1.0, other.color);
    for (nth, limit) in own_limits(chart, other).into_iter().enumerate() {
        let Some(limit) = limit.filter(|limit| limit.as_f64() <= chart.top()) else {
            continue;
        };
        let y = ui.painter().round_to_pixel_center(chart.y(limit.as_f64()));
        let line = [pos2(plot.left(), y), pos2(plot.right(), y)];
        let name = if nth == 0 {
            shapes.push(Shape::line_segment(line, stroke));
            "B window"
        } else {
            shapes.extend(Shape::dashed_line(&line, stroke, 4.0, 4.0));
            "B usable"
        };
        let font = TextStyle::Small.resolve(ui.style());
        let painter = ui.painter();
        let name = painter.layout_no_wrap(name.to_owned(), font, other.color);
        // The name of the usable window is below its line, so that both are readable if the lines are close.
        let top = if nth == 0 { y - name.size().y } else { y };
        let at = pos2(plot.left() + 6.0, top);
        shapes.push(Shape::galley(at, name, other.color));
    }
}

/// Draws the curve and the limits of the other session.
pub(super) fn draw(chart: &Chart<'_>, ui: &Ui, shapes: &mut Vec<Shape>) {
    let Some(other) = chart.input.compared_session else {
        return;
    };
    draw_limits(chart, ui, other, shapes);
    let points = chart.points(&chart.visible.compared);
    let [width, outline] = WIDTHS;
    let behind = Stroke::new(outline, chart.palette.background.gamma_multiply(0.7));
    shapes.push(Shape::line(points.clone(), behind));
    shapes.push(Shape::line(points, Stroke::new(width, other.color)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::timeline::plot::Axis;
    use egui::Color32;

    fn input<'a>(contexts: &'a [Tokens], curve: &'a ComparedCurve<'a>) -> TimelineInput<'a> {
        TimelineInput {
            revision: 0,
            area: &[],
            unseen: &|_| Tokens::ZERO,
            lanes: &[],
            recorded_usage: &[(10, Tokens(1))],
            windows: &[],
            output_reserve: Tokens::ZERO,
            trigger: None,
            axis: Axis::Calls,
            turn_starts: &[0],
            recorded_compactions: &[],
            restarts: &[],
            errors: &[],
            reference_curves: &[],
            compared_session: (!contexts.is_empty()).then_some(curve),
            heat: &[],
            selected: None,
            range: None,
            zooms_to_range: false,
            compared: None,
            isolated: None,
            corner: 0.0,
            hover_text: &|_| Vec::new(),
            takes_keys: false,
        }
    }

    fn other(contexts: &[Tokens], is_by_share: bool) -> ComparedCurve<'_> {
        ComparedCurve {
            name: "other",
            color: Color32::WHITE,
            contexts,
            limits: [Tokens(100), Tokens(80)],
            turn_starts: &[0],
            is_by_share,
        }
    }

    #[test]
    fn by_call_the_axis_ends_with_the_longer_session() {
        let contexts = vec![Tokens(5); 21];
        let curve = other(&contexts, false);
        let input = input(&contexts, &curve);
        let axis = CallAxis::new(&input);
        assert_eq!((axis.end(), axis.last_number()), (20.0, 21));
        // Only calls of the open session can be selected.
        assert_eq!(axis.nearest(20.0), 10);
        assert_eq!(call_at(axis, &curve, 7), Some(7));
    }

    #[test]
    fn by_share_both_sessions_end_at_the_same_position() {
        let contexts: Vec<_> = (0..21).map(Tokens).collect();
        let curve = other(&contexts, true);
        let input = input(&contexts, &curve);
        let axis = CallAxis::new(&input);
        assert_eq!(axis.end(), 10.0);
        let points = super::curve(&input, axis, &Columns::whole(axis, 100));
        assert_eq!(
            (points[0], points[points.len() - 1]),
            ([0.0, 0.0], [10.0, 20.0])
        );
        assert_eq!(call_at(axis, &curve, 5), Some(10));
    }

    #[test]
    fn by_call_a_shorter_session_ends_earlier() {
        let contexts = vec![Tokens(5); 4];
        let curve = other(&contexts, false);
        let input = input(&contexts, &curve);
        let axis = CallAxis::new(&input);
        assert_eq!(axis.end(), 10.0);
        assert_eq!(
            [3, 4].map(|call| call_at(axis, &curve, call)),
            [Some(3), None]
        );
    }
}
