//! The overview strip below the plot: the whole session, with the visible part as a brush.

use crate::app::ui::timeline::plot::axis::CallAxis;
use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::stack;
use crate::app::ui::timeline::plot::state::{Grip, TimelineState};
use crate::app::ui::timeline::plot::view::View;
use egui::{
    Color32, CursorIcon, Id, Mesh, Painter, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, vec2,
};

/// Distance within which the pointer grabs an edge of the brush.
const REACH: f32 = 5.0;

/// Handles moves, resizes and new selections of the brush. Returns the new view.
pub(crate) fn interact(
    ui: &Ui,
    id: Id,
    strip: Rect,
    view: View,
    axis: CallAxis<'_>,
    state: &mut TimelineState,
) -> Option<View> {
    let response = ui.interact(strip, id.with("overview"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::ScrollBar, ui.is_enabled(), "overview"));
    let (begin, finish) = (axis.nearest(view.from) + 1, axis.nearest(view.to) + 1);
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_value(format!("calls {begin} to {finish}"));
    });
    let end = axis.end();
    let per_point = end / f64::from(strip.width().max(1.0));
    let value = |x: f32| (f64::from(x - strip.left()) * per_point).clamp(0.0, end);
    let position = |value: f64| strip.left() + (value / per_point) as f32;
    let is_whole = view.from <= 0.0 && view.to >= end;
    let grip = |x: f32| {
        let (from, to) = (position(view.from), position(view.to));
        match x {
            x if (x - from).abs() <= REACH => Grip::From,
            x if (x - to).abs() <= REACH => Grip::To,
            x if (from..to).contains(&x) && !is_whole => Grip::Middle,
            _ => Grip::New,
        }
    };
    if let Some(pointer) = response.hover_pos() {
        let icon = match state.grip.unwrap_or_else(|| grip(pointer.x)) {
            Grip::From | Grip::To => CursorIcon::ResizeHorizontal,
            Grip::Middle => CursorIcon::Grab,
            Grip::New => CursorIcon::Crosshair,
        };
        ui.ctx().set_cursor_icon(icon);
    }
    if response.double_clicked() {
        return Some(View::whole(end));
    }
    let pointer = response.interact_pointer_pos()?;
    if response.drag_started() {
        let origin = ui.input(|input| input.pointer.press_origin()).unwrap_or(pointer);
        state.grip = Some(grip(origin.x));
        state.grip_from = value(origin.x);
    }
    if !response.dragged() {
        state.grip = None;
        return None;
    }
    let (least, x) = (axis.min_span(), value(pointer.x));
    let by = f64::from(response.drag_delta().x) * per_point;
    let (from, to) = match state.grip? {
        Grip::From => (x.min(view.to - least), view.to),
        Grip::To => (view.from, x.max(view.from + least)),
        Grip::Middle => (view.from + by, view.to + by),
        Grip::New => {
            let (from, to) = (state.grip_from.min(x), state.grip_from.max(x));
            (from, to.max(from + least))
        }
    };
    Some(view.showing(from, to, end))
}

/// Paints the strip.
pub(crate) fn paint(ui: &Ui, chart: &Chart<'_>) {
    let (strip, palette) = (chart.areas.overview, chart.palette);
    let painter = ui.painter().with_clip_rect(strip.intersect(ui.clip_rect()));
    painter.rect_filled(strip, 3.0, palette.raised);
    let end = chart.axis.end();
    let place = |x: f64| strip.left() + (x / end) as f32 * strip.width();
    let top = chart.session.heaviest.as_f64().max(1.0);
    let height =
        |tokens: f32| strip.bottom() - (f64::from(tokens) / top) as f32 * (strip.height() - 3.0);
    let outline: Vec<[Pos2; 2]> = chart
        .session
        .bars
        .iter()
        .map(|bar| [bar.from, bar.to].map(|x| pos2(place(x), height(bar.total()))))
        .collect();
    let budget = chart.input.budget(chart.last);
    let usable = budget.usable().as_f64();
    let trigger = chart.input.trigger_tokens(chart.last).unwrap_or(usable);
    let base = palette.raised.lerp_to_gamma(palette.weak, 0.35);
    // The parts above the trigger and above the usable window, in the colors of their lines.
    let layers = [
        (strip.bottom(), base),
        (height(trigger as f32), base.lerp_to_gamma(palette.warn, 0.5)),
        (height(usable as f32), base.lerp_to_gamma(palette.bad, 0.6)),
    ];
    for (floor, color) in layers.into_iter().filter(|(floor, _)| *floor > strip.top()) {
        let mut mesh = Mesh::default();
        let ends = outline.iter().flatten();
        stack::add_band(&mut mesh, ends.map(|at| (at.x, at.y.min(floor), floor)), color);
        painter.add(mesh);
    }
    marks(&painter, chart, strip, &place);
    if let Some(range) = chart.range {
        let x = place(chart.axis.x(range.first))..=place(chart.axis.x(range.last));
        let part = Rect::from_x_y_ranges(x, strip.y_range()).expand2(vec2(1.0, 0.0));
        painter.rect_filled(part, 0.0, palette.accent.gamma_multiply(0.3));
    }
    if let Some(call) = chart.input.selected {
        let x = painter.round_to_pixel_center(place(chart.axis.x(call)));
        painter.vline(x, strip.y_range(), Stroke::new(1.0, palette.accent));
    }
    let x = place(chart.view.from)..=place(chart.view.to);
    let brush = Rect::from_x_y_ranges(x, strip.y_range());
    paint_brush(&painter, brush, strip, palette.accent);
}

/// Paints the visible part of the session, with a grip at each end.
fn paint_brush(painter: &Painter, brush: Rect, strip: Rect, accent: Color32) {
    if brush.width() < strip.width() {
        let (fill, edge) = (accent.gamma_multiply(0.16), accent.gamma_multiply(0.6));
        let stroke = Stroke::new(1.0, edge);
        painter.rect(brush, 3.0, fill, stroke, StrokeKind::Inside);
    }
    for x in [brush.left(), brush.right()] {
        let x = x.clamp(strip.left() + 2.0, strip.right() - 2.0);
        let grip = Rect::from_center_size(pos2(x, strip.center().y), vec2(3.0, 10.0));
        painter.rect_filled(grip, 1.5, accent);
    }
}

/// Paints recorded compactions and overflows at the top, and the focused lane's compactions at the bottom.
fn marks(painter: &Painter, chart: &Chart<'_>, strip: Rect, place: &dyn Fn(f64) -> f32) {
    const LENGTH: f32 = 5.0;
    let tick = |call: usize, from: f32, to: f32, color: Color32| {
        let x = painter.round_to_pixel_center(place(chart.axis.x(call)));
        painter.vline(x, from..=to, Stroke::new(1.5, color));
    };
    let (top, bottom) = (strip.top(), strip.bottom());
    for (lane, overflows) in chart.input.lanes.iter().zip(&chart.session.overflows) {
        if lane.focused {
            for call in lane.compactions {
                tick(*call, bottom - LENGTH, bottom, lane.color);
            }
        }
        for call in overflows {
            tick(*call, top, top + LENGTH, chart.palette.bad);
        }
    }
    for compaction in chart.input.recorded_compactions {
        tick(compaction.call, top, top + LENGTH, chart.palette.text);
    }
}
