//! The curve of another session on the axis of the open one.

use super::axis::CallAxis;
use super::chart::Chart;
use super::input::{ComparedCurve, TimelineInput};
use super::reduce::{self, Columns, Curve};
use egui::{Shape, Stroke, Ui};

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

/// Draws the curve.
pub(super) fn draw(chart: &Chart<'_>, _ui: &Ui, shapes: &mut Vec<Shape>) {
    let Some(other) = chart.input.compared_session else {
        return;
    };
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
    use crate::units::Tokens;
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
