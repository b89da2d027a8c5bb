//! The curve of another session on the axis of the open one.

use crate::app::ui::timeline::plot::axis::CallAxis;
use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::compared_curve::scale;
use crate::app::ui::timeline::plot::input::ComparedCurve;
use crate::units::Tokens;
use egui::{Color32, Galley, Pos2, Shape, Stroke, TextStyle, Ui, pos2, vec2};
use std::sync::Arc;

/// Width of the line and of the outline that separates it from the area, in points.
const WIDTHS: [f32; 2] = [2.0, 4.5];
/// Distance of the name of a limit from the left end of its line, in points.
const NAME_INDENT: f32 = 6.0;

/// Returns the call of the other session at the position of a call; `None` after its end.
pub(crate) fn call_at(axis: CallAxis<'_>, other: &ComparedCurve<'_>, call: usize) -> Option<usize> {
    let (x, its_axis) = (axis.x(call) * scale(axis, other), axis.of_compared(other));
    let is_there = !other.contexts.is_empty() && x <= its_axis.end() + 1e-9;
    is_there.then(|| its_axis.nearest(x))
}

/// Draws lines for the context window and, dashed, for the usable window of the other session, with their names. A limit
/// that equals that of the open session at every visible call is omitted.
fn draw_limits(chart: &Chart<'_>, ui: &Ui, other: &ComparedCurve<'_>, shapes: &mut Vec<Shape>) {
    let (window, usable) = (other.window, other.usable_window);
    let reserve = chart.input.output_reserve;
    let windows = || chart.visible.windows.iter().map(|run| run.window);
    if windows().any(|own| own != window)
        && let Some(line) = limit_line(chart, ui, window)
    {
        let name = limit_name(ui, "B window", other.color);
        let at = line[0] + vec2(NAME_INDENT, -name.size().y);
        shapes.push(Shape::line_segment(line, Stroke::new(1.0, other.color)));
        shapes.push(Shape::galley(at, name, other.color));
    }
    if windows().any(|own| own - reserve != usable)
        && let Some(line) = limit_line(chart, ui, usable)
    {
        // Below its line, so that both names are readable if the lines are close.
        let at = line[0] + vec2(NAME_INDENT, 0.0);
        let name = limit_name(ui, "B usable", other.color);
        let stroke = Stroke::new(1.0, other.color);
        shapes.extend(Shape::dashed_line(&line, stroke, 4.0, 4.0));
        shapes.push(Shape::galley(at, name, other.color));
    }
}

/// Returns the ends of the line of a limit; `None` above the plot.
fn limit_line(chart: &Chart<'_>, ui: &Ui, limit: Tokens) -> Option<[Pos2; 2]> {
    let (plot, tokens) = (chart.areas.plot, limit.as_f64());
    let y = ui.painter().round_to_pixel_center(chart.y(tokens));
    (tokens <= chart.top()).then(|| [plot.left(), plot.right()].map(|x| pos2(x, y)))
}

fn limit_name(ui: &Ui, name: &str, color: Color32) -> Arc<Galley> {
    let font = TextStyle::Small.resolve(ui.style());
    ui.painter().layout_no_wrap(name.to_owned(), font, color)
}

/// Draws the curve and the limits of the other session.
pub(crate) fn draw(chart: &Chart<'_>, ui: &Ui, shapes: &mut Vec<Shape>) {
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
    use crate::app::state::timeline::state::Axis;
    use crate::app::ui::timeline::plot::input::TimelineInput;
    use crate::app::ui::timeline::plot::reduce::Columns;
    use crate::app::ui::timeline::plot::tests;

    fn input<'a>(curve: &'a ComparedCurve<'a>) -> TimelineInput<'a> {
        TimelineInput {
            recorded_usage: &[(10, Tokens(1))],
            compared_session: Some(curve),
            ..tests::input(&[], &[0], Axis::Calls)
        }
    }

    fn other(contexts: &[Tokens], is_by_share: bool) -> ComparedCurve<'_> {
        ComparedCurve {
            name: "other",
            color: Color32::WHITE,
            contexts,
            window: Tokens(100),
            usable_window: Tokens(80),
            turn_starts: &[0],
            is_by_share,
        }
    }

    #[test]
    fn by_call_the_axis_ends_with_the_longer_session() {
        let contexts = vec![Tokens(5); 21];
        let curve = other(&contexts, false);
        let input = input(&curve);
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
        let input = input(&curve);
        let axis = CallAxis::new(&input);
        assert_eq!(axis.end(), 10.0);
        let points = crate::app::ui::timeline::plot::compared_curve::curve(
            &input,
            axis,
            &Columns::whole(axis, 100),
        );
        assert_eq!((points[0], points[points.len() - 1]), ([0.0, 0.0], [10.0, 20.0]));
        assert_eq!(call_at(axis, &curve, 5), Some(10));
    }

    #[test]
    fn by_call_a_shorter_session_ends_earlier() {
        let contexts = vec![Tokens(5); 4];
        let curve = other(&contexts, false);
        let input = input(&curve);
        let axis = CallAxis::new(&input);
        assert_eq!(axis.end(), 10.0);
        assert_eq!([3, 4].map(|call| call_at(axis, &curve, call)), [Some(3), None]);
    }
}
