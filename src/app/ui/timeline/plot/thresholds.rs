//! The thresholds: zones and lines for window, usable window and trigger, with handles at the right edge.

use crate::app::ui::theme;
use crate::app::ui::timeline::plot::chart;
use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::input::TimelineResponse;
use crate::app::ui::timeline::plot::state::TimelineState;
use crate::app::ui::timeline::plot::view::View;
use crate::app::ui::widgets::{grouped, slider};
use crate::units::{Share, Tokens};
use egui::{
    Color32, CursorIcon, Id, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, TextStyle, Ui,
    Vec2, pos2, vec2,
};
use std::ops::RangeInclusive;

/// Height of a handle.
const HANDLE: f32 = 18.0;
/// Distance within which the pointer grabs a line near its handle.
const REACH: f32 = 5.0;
/// Length of the draggable part of the line.
const GRIP: f32 = 24.0;
/// Windows are set in multiples of 1000 tokens.
const GRAIN: f64 = 1000.0;

/// A threshold at the last call in view.
struct Threshold {
    kind: ThresholdKind,
    name: &'static str,
    tokens: f64,
    color: Color32,
}

#[derive(Clone, Copy, PartialEq)]
enum ThresholdKind {
    Window,
    Usable,
    Trigger,
}

/// Draws faint zones: safe below the trigger, warning up to the usable window, overflow above.
pub(crate) fn draw_zones(chart: &Chart<'_>, _ui: &Ui, shapes: &mut Vec<Shape>) {
    let (palette, plot) = (chart.palette, chart.areas.plot);
    for run in &chart.visible.windows {
        let usable = (run.window - chart.input.output_reserve).as_f64();
        let trigger = chart.input.trigger.map_or(usable, |share| share.0 * usable);
        let x = chart.at(run.from)..=chart.at(run.to);
        let levels = [chart.y(0.0), chart.y(trigger), chart.y(usable), plot.top()];
        let colors = [palette.ok, palette.warn, palette.bad];
        for (pair, color) in levels.windows(2).zip(colors) {
            if pair[1] < pair[0] {
                let zone = Rect::from_x_y_ranges(x.clone(), pair[1]..=pair[0]);
                shapes.push(Shape::rect_filled(zone, 0.0, palette.tint(color)));
            }
        }
    }
}

/// Draws the line of each threshold, with vertical parts where the window changes.
pub(crate) fn draw_lines(chart: &Chart<'_>, ui: &Ui, shapes: &mut Vec<Shape>) {
    let mut lines = [Vec::new(), Vec::new(), Vec::new()];
    for run in &chart.visible.windows {
        let usable = run.window - chart.input.output_reserve;
        let trigger = chart.input.trigger.map(|share| share.0 * usable.as_f64());
        let levels = [Some(run.window.as_f64()), Some(usable.as_f64()), trigger];
        for (line, level) in lines.iter_mut().zip(levels) {
            if let Some(level) = level {
                let y = ui.painter().round_to_pixel_center(chart.y(level));
                line.extend([run.from, run.to].map(|x| pos2(chart.at(x), y)));
            }
        }
    }
    let [window, usable, trigger] = lines;
    let palette = chart.palette;
    shapes.push(Shape::line(window, Stroke::new(1.0, palette.bad)));
    shapes.push(Shape::line(usable, Stroke::new(1.0, palette.warn)));
    let stroke = Stroke::new(1.0, palette.accent);
    shapes.extend(Shape::dashed_line(&trigger, stroke, 5.0, 3.0));
}

/// Shows the handles and handles their input.
pub(crate) fn show(
    ui: &Ui,
    id: Id,
    chart: &Chart<'_>,
    state: &mut TimelineState,
    out: &mut TimelineResponse,
) {
    let mut is_dragging = false;
    for (threshold, position) in positions(chart) {
        let grip = grip(chart, position.height);
        let grip = ui.interact(grip, id.with((threshold.name, "line")), Sense::DRAG);
        let handle = ui.interact(position.handle, id.with(threshold.name), Sense::drag());
        for response in [&grip, &handle] {
            drag(response, &threshold, chart, state, out);
            is_dragging |= response.dragged();
        }
        if let Some(value) = value_from_keyboard(ui, &handle, &threshold, chart) {
            set(threshold.kind, value, chart, out);
        }
        let is_held = grip.hovered() || grip.dragged() || handle.hovered() || handle.dragged();
        if is_held || handle.has_focus() {
            paint_value(ui, &threshold, position.height, chart);
        }
        paint_handle(ui, &threshold, position, chart);
        for response in [grip, handle] {
            response.on_hover_and_drag_cursor(CursorIcon::ResizeVertical);
        }
    }
    if !is_dragging {
        state.held_top = None;
    }
}

/// The position of a threshold on the screen.
#[derive(Clone, Copy)]
struct Position {
    /// Height of its line, within the plot.
    height: f32,
    handle: Rect,
}

/// Returns the thresholds with their positions. Handles do not overlap.
fn positions(chart: &Chart<'_>) -> impl Iterator<Item = (Threshold, Position)> {
    let (thresholds, plot) = (thresholds(chart), chart.areas.plot);
    let height = |threshold: &Threshold| {
        let y = chart.y(threshold.tokens);
        y.clamp(plot.top(), plot.bottom())
    };
    let heights: Vec<f32> = thresholds.iter().map(height).collect();
    let mut centers = heights.clone();
    // The strip's name is below the plot, if there is a strip.
    let below = if chart.input.heat.is_empty() { HANDLE / 2.0 } else { -HANDLE / 2.0 };
    // The legend and the choice of the axis are above the plot.
    let above = chart.areas.legend.bottom() + 2.0 + HANDLE / 2.0;
    let (top, bottom) = (above.max(plot.top() - HANDLE), plot.bottom() + below);
    spread(&mut centers, HANDLE + 2.0, top, bottom);
    let x = plot.right() + 4.0..=chart.areas.handles.right() - 8.0;
    let places = heights.into_iter().zip(centers).map(move |(height, y)| {
        let y = y - HANDLE / 2.0..=y + HANDLE / 2.0;
        let handle = Rect::from_x_y_ranges(x.clone(), y);
        Position { height, handle }
    });
    thresholds.into_iter().zip(places)
}

/// Returns the draggable end of a line.
fn grip(chart: &Chart<'_>, height: f32) -> Rect {
    let right = chart.areas.plot.right();
    Rect::from_x_y_ranges(right - GRIP..=right + 4.0, height - REACH..=height + REACH)
}

fn thresholds(chart: &Chart<'_>) -> Vec<Threshold> {
    let (input, palette) = (chart.input, chart.palette);
    let budget = input.budget(chart.last);
    let mut all = vec![
        Threshold {
            kind: ThresholdKind::Window,
            name: "window",
            tokens: budget.window.as_f64(),
            color: palette.bad,
        },
        Threshold {
            kind: ThresholdKind::Usable,
            name: "usable",
            tokens: budget.usable().as_f64(),
            color: palette.warn,
        },
    ];
    if let Some(tokens) = input.trigger_tokens(chart.last) {
        all.push(Threshold {
            kind: ThresholdKind::Trigger,
            name: "trigger",
            tokens,
            color: palette.accent,
        });
    }
    all
}

fn drag(
    response: &Response,
    threshold: &Threshold,
    chart: &Chart<'_>,
    state: &mut TimelineState,
    out: &mut TimelineResponse,
) {
    let Some(pointer) = response.interact_pointer_pos() else {
        return;
    };
    if response.drag_started() {
        hold_scale(threshold, pointer.y, chart, state);
    } else if response.dragged() {
        let tokens = chart.transform.value_from_position(pointer - vec2(0.0, state.grab)).y;
        let usable = chart.input.budget(chart.last).usable().as_f64().max(1.0);
        let value = if threshold.kind == ThresholdKind::Trigger { tokens / usable } else { tokens };
        set(threshold.kind, value, chart, out);
    }
}

/// Keeps the vertical scale during a drag. The scale includes the threshold, so that its new position is visible.
fn hold_scale(threshold: &Threshold, pointer: f32, chart: &Chart<'_>, state: &mut TimelineState) {
    let includes = |[bottom, top]: &[f64; 2]| (*bottom..=*top).contains(&threshold.tokens);
    let view = View { tokens: chart.view.tokens.filter(includes), ..chart.view };
    let top = chart.session.top().max(threshold.tokens * 1.12);
    let held = chart::transform(chart.areas.plot, view, top);
    state.grab = pointer - held.position_from_point_y(threshold.tokens);
    state.held_top = Some(top);
    state.set_view(view, chart.axis.end());
}

/// Returns the value set by an assistive tool or the keyboard: tokens, or a share for the trigger.
fn value_from_keyboard(
    ui: &Ui,
    handle: &Response,
    threshold: &Threshold,
    chart: &Chart<'_>,
) -> Option<f64> {
    let (value, range, step): (f64, RangeInclusive<f64>, f64) = match threshold.kind {
        ThresholdKind::Trigger => {
            (chart.input.trigger.map_or(0.0, |share| share.0), 0.02..=1.0, 0.01)
        }
        ThresholdKind::Usable => (
            threshold.tokens,
            GRAIN..=chart.input.budget(chart.last).window.as_f64().max(GRAIN),
            GRAIN,
        ),
        ThresholdKind::Window => (threshold.tokens, GRAIN..=10_000_000.0, GRAIN),
    };
    slider::requested_value(ui, handle, threshold.name, value, &range, step)
}

fn set(kind: ThresholdKind, value: f64, chart: &Chart<'_>, out: &mut TimelineResponse) {
    let tokens = |value: f64| Tokens(((value / GRAIN).round() * GRAIN).max(GRAIN) as u64);
    match kind {
        ThresholdKind::Trigger => {
            out.trigger = Some(Share(((value * 100.0).round() / 100.0).clamp(0.02, 1.0)));
        }
        ThresholdKind::Usable => {
            out.output_reserve = Some(chart.input.budget(chart.last).window - tokens(value));
        }
        ThresholdKind::Window => out.window = Some(tokens(value)),
    }
}

fn paint_handle(ui: &Ui, threshold: &Threshold, position: Position, chart: &Chart<'_>) {
    let (painter, palette, handle) = (ui.painter(), chart.palette, position.handle);
    let is_above = chart.y(threshold.tokens) < chart.areas.plot.top() - 1.0;
    if !is_above {
        let line = pos2(chart.areas.plot.right(), position.height);
        let stroke = Stroke::new(1.0, threshold.color);
        painter.line_segment([line, handle.left_center()], stroke);
    }
    painter.rect_filled(handle, theme::space::RADIUS_SMALL, threshold.color);
    let font = theme::small_strong().resolve(ui.style());
    let galley = painter.layout_no_wrap(threshold.name.to_owned(), font, palette.on_fill);
    let width = galley.size().x + 10.0;
    let left = handle.center().x - width / 2.0;
    painter.galley(pos2(left, handle.center().y - galley.size().y / 2.0), galley, palette.on_fill);
    let grip = pos2(left + width - 3.0, handle.center().y);
    arrows(ui, grip, palette.on_fill, !is_above);
}

/// Paints arrows up and down, or only up if the threshold is above the plot.
fn arrows(ui: &Ui, at: Pos2, color: Color32, has_down: bool) {
    let triangle = |center: Pos2, up: f32| {
        let points = [(-2.5, 1.25 * up), (2.5, 1.25 * up), (0.0, -1.75 * up)];
        Shape::convex_polygon(
            points.map(|(x, y)| center + vec2(x, y)).to_vec(),
            color,
            Stroke::NONE,
        )
    };
    ui.painter().add(triangle(at - vec2(0.0, 2.75), 1.0));
    if has_down {
        ui.painter().add(triangle(at + vec2(0.0, 2.75), -1.0));
    }
}

/// Paints the value of a held threshold on its line.
fn paint_value(ui: &Ui, threshold: &Threshold, height: f32, chart: &Chart<'_>) {
    let budget = chart.input.budget(chart.last);
    let text = match threshold.kind {
        ThresholdKind::Window => format!("{} tok", grouped(threshold.tokens)),
        ThresholdKind::Usable => {
            format!(
                "{} tok · {} kept for the answer",
                grouped(threshold.tokens),
                grouped(budget.output_reserve.as_f64())
            )
        }
        ThresholdKind::Trigger => {
            let share = chart.input.trigger.map_or(0.0, |share| share.0);
            format!("{share:.2} of usable · {} tok", grouped(threshold.tokens))
        }
    };
    let font = TextStyle::Small.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(text, font, chart.palette.text);
    let padding = vec2(8.0, 4.0);
    let size = galley.size() + 2.0 * padding;
    let center = pos2(chart.areas.plot.right() - size.x / 2.0 - 8.0, height - size.y / 2.0 - 5.0);
    let rect = Rect::from_center_size(center, size);
    let rect = rect.translate(Vec2::Y * (chart.areas.flags.top() - rect.top()).max(0.0));
    let stroke = Stroke::new(1.0, threshold.color);
    ui.painter().rect(rect, 4.0, chart.palette.raised, stroke, StrokeKind::Inside);
    ui.painter().galley(rect.min + padding, galley, chart.palette.text);
}

/// Moves overlapping items of equal height apart as little as possible, within the bounds and in order.
pub(crate) fn spread(centers: &mut [f32], height: f32, top: f32, bottom: f32) {
    let mut order: Vec<usize> = (0..centers.len()).collect();
    order.sort_by(|a, b| centers[*a].total_cmp(&centers[*b]));
    let mut floor = top + height / 2.0;
    for i in &order {
        centers[*i] = centers[*i].max(floor);
        floor = centers[*i] + height;
    }
    let mut ceiling = bottom - height / 2.0;
    for i in order.iter().rev() {
        centers[*i] = centers[*i].min(ceiling);
        ceiling = centers[*i] - height;
    }
}
