//! Selected calls: a drag with the primary button, and their display in the plot and the overview.

use crate::app::state::model::selection::CallRange;
use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::input::TimelineResponse;
use crate::app::ui::widgets::drag;
use egui::{Key, PointerButton, Rect, Response, Shape, Stroke, Ui};

/// Handles a drag over the plot. `from` keeps the call at its start. Returns the calls while they are dragged.
pub(crate) fn interact(
    ui: &Ui,
    plot: &Response,
    chart: &Chart<'_>,
    from: &mut Option<usize>,
    out: &mut TimelineResponse,
) -> Option<CallRange> {
    let call_at = |at: egui::Pos2| chart.call_at(chart.areas.plot.clamp(at));
    let (is_pan_key, origin) = ui.input(|input| {
        let origin = input.pointer.press_origin();
        (input.key_down(Key::Space), origin)
    });
    if plot.drag_started_by(PointerButton::Primary) && !is_pan_key {
        *from = origin.map(call_at);
    }
    let to = plot.interact_pointer_pos().map(call_at);
    let range = from.zip(to).map(|(from, to)| CallRange::between(from, to));
    if plot.drag_stopped() {
        *from = None;
        out.range = range.filter(|_| drag::cancelled(ui.ctx()).is_none());
        return out.range;
    }
    range.filter(|_| plot.dragged_by(PointerButton::Primary))
}

/// Returns the part of the plot that shows these calls, each half a call wider; `None` out of view.
pub(crate) fn area(chart: &Chart<'_>, range: CallRange) -> Option<Rect> {
    let plot = chart.areas.plot;
    let between = |a: usize, b: usize| f64::midpoint(chart.axis.x(a), chart.axis.x(b));
    let left = between(range.first.saturating_sub(1), range.first);
    let right = between(range.last, range.last + 1).min(chart.axis.end());
    let x = chart.at(left)..=chart.at(right);
    let is_seen = *x.end() > plot.left() && *x.start() < plot.right();
    is_seen.then(|| Rect::from_x_y_ranges(x, plot.y_range()))
}

/// Draws the selected calls below the curves.
pub(crate) fn draw(chart: &Chart<'_>, ui: &Ui, shapes: &mut Vec<Shape>) {
    let Some(part) = chart.range.and_then(|range| area(chart, range)) else {
        return;
    };
    let (plot, accent) = (chart.areas.plot, chart.palette.accent);
    shapes.push(Shape::rect_filled(part.intersect(plot), 0.0, accent.gamma_multiply(0.13)));
    for x in [part.left(), part.right()] {
        if plot.x_range().contains(x) {
            let x = ui.painter().round_to_pixel_center(x);
            let stroke = Stroke::new(1.0, accent.gamma_multiply(0.6));
            shapes.push(Shape::vline(x, plot.y_range(), stroke));
        }
    }
}
