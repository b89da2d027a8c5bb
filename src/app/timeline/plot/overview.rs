//! The overview strip below the plot: the whole session, with the visible part as a brush.

use super::layout::Steps;
use super::scene::{Memory, Scene};
use super::view::View;
use egui::{
    Color32, CursorIcon, Id, Mesh, Painter, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2,
};

/// The dragged part of the brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grip {
    From,
    To,
    Middle,
    /// Outside the brush: a new range is selected.
    New,
}

/// Distance within which the pointer grabs an edge of the brush.
const REACH: f32 = 5.0;

/// Handles moves, resizes and new selections of the brush. Returns the new view.
pub(super) fn interact(
    ui: &Ui,
    id: Id,
    strip: Rect,
    view: View,
    steps: Steps<'_>,
    memory: &mut Memory,
) -> Option<View> {
    let response = ui.interact(strip, id.with("overview"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::ScrollBar, ui.is_enabled(), "overview"));
    let (begin, finish) = (steps.nearest(view.from) + 1, steps.nearest(view.to) + 1);
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_value(format!("calls {begin} to {finish}"));
    });
    let end = steps.end();
    let per_point = end / f64::from(strip.width().max(1.0));
    let value = |x: f32| (f64::from(x - strip.left()) * per_point).clamp(0.0, end);
    let place = |value: f64| strip.left() + (value / per_point) as f32;
    let is_whole = view == View::whole(end);
    let grip = |x: f32| {
        let (from, to) = (place(view.from), place(view.to));
        match x {
            x if (x - from).abs() <= REACH => Grip::From,
            x if (x - to).abs() <= REACH => Grip::To,
            x if (from..to).contains(&x) && !is_whole => Grip::Middle,
            _ => Grip::New,
        }
    };
    if let Some(pointer) = response.hover_pos() {
        let icon = match memory.brush.unwrap_or_else(|| grip(pointer.x)) {
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
        let origin = ui
            .input(|input| input.pointer.press_origin())
            .unwrap_or(pointer);
        memory.brush = Some(grip(origin.x));
        memory.brush_from = value(origin.x);
    }
    if !response.dragged() {
        memory.brush = None;
        return None;
    }
    let (least, x) = (steps.least(), value(pointer.x));
    let moved = match memory.brush? {
        Grip::From => View {
            from: x.min(view.to - least),
            ..view
        },
        Grip::To => View {
            to: x.max(view.from + least),
            ..view
        },
        Grip::Middle => view.moved(f64::from(response.drag_delta().x) * per_point, end),
        Grip::New => {
            let (from, to) = (memory.brush_from.min(x), memory.brush_from.max(x));
            View {
                from,
                to: to.max(from + least),
            }
        }
    };
    Some(moved.within(end))
}

/// Paints the strip.
pub(super) fn paint(ui: &Ui, scene: &Scene<'_>) {
    let (strip, palette) = (scene.areas.overview, scene.palette);
    let painter = ui.painter().with_clip_rect(strip.intersect(ui.clip_rect()));
    painter.rect_filled(strip, 3.0, palette.raised);
    let end = scene.steps.end();
    let place = |x: f64| strip.left() + (x / end) as f32 * strip.width();
    let top = scene.whole.heaviest.as_f64().max(1.0);
    let height =
        |tokens: f32| strip.bottom() - (f64::from(tokens) / top) as f32 * (strip.height() - 3.0);
    let outline: Vec<[Pos2; 2]> = scene
        .whole
        .bars
        .iter()
        .map(|bar| [bar.from, bar.to].map(|x| pos2(place(x), height(bar.total()))))
        .collect();
    let budget = scene.input.budget(scene.last);
    let usable = budget.usable().as_f64();
    let trigger = scene.input.trigger_tokens(scene.last).unwrap_or(usable);
    let base = palette.raised.lerp_to_gamma(palette.weak, 0.35);
    // The parts above the trigger and above the usable window, in the colors of their lines.
    let layers = [
        (strip.bottom(), base),
        (
            height(trigger as f32),
            base.lerp_to_gamma(palette.warn, 0.5),
        ),
        (height(usable as f32), base.lerp_to_gamma(palette.bad, 0.6)),
    ];
    for (floor, color) in layers.into_iter().filter(|(floor, _)| *floor > strip.top()) {
        painter.add(above(&outline, floor, color));
    }
    marks(&painter, scene, strip, &place);
    let brush = Rect::from_x_y_ranges(
        place(scene.view.from)..=place(scene.view.to),
        strip.y_range(),
    );
    if scene.view != View::whole(end) {
        painter.rect_filled(brush, 3.0, palette.accent.gamma_multiply(0.16));
        painter.rect_stroke(
            brush,
            3.0,
            Stroke::new(1.0, palette.accent.gamma_multiply(0.6)),
            StrokeKind::Inside,
        );
    }
    if let Some(step) = scene.input.selected {
        painter.vline(
            painter.round_to_pixel_center(place(scene.steps.x(step))),
            strip.y_range(),
            Stroke::new(1.0, palette.accent),
        );
    }
    for x in [brush.left(), brush.right()] {
        let grip = Rect::from_center_size(
            pos2(
                x.clamp(strip.left() + 2.0, strip.right() - 2.0),
                strip.center().y,
            ),
            egui::vec2(3.0, 10.0),
        );
        painter.rect_filled(grip, 1.5, palette.accent);
    }
}

/// Returns the part of an outline above a threshold.
fn above(outline: &[[Pos2; 2]], floor: f32, color: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    for at in outline.iter().flatten() {
        mesh.colored_vertex(pos2(at.x, at.y.min(floor)), color);
        mesh.colored_vertex(pos2(at.x, floor), color);
    }
    for i in (0..mesh.vertices.len().saturating_sub(2) as u32).step_by(2) {
        mesh.add_triangle(i, i + 1, i + 2);
        mesh.add_triangle(i + 1, i + 2, i + 3);
    }
    mesh
}

/// Paints recorded compactions and overflows at the top, and the focused lane's compactions at the bottom.
fn marks(painter: &Painter, scene: &Scene<'_>, strip: Rect, place: &dyn Fn(f64) -> f32) {
    const LENGTH: f32 = 5.0;
    let tick = |step: usize, from: f32, to: f32, color: Color32| {
        let x = painter.round_to_pixel_center(place(scene.steps.x(step)));
        painter.vline(x, from..=to, Stroke::new(1.5, color));
    };
    let (top, bottom) = (strip.top(), strip.bottom());
    for (lane, overflows) in scene.input.lanes.iter().zip(&scene.whole.overflows) {
        if lane.focused {
            for (step, _) in lane.events {
                tick(*step, bottom - LENGTH, bottom, lane.color);
            }
        }
        for step in overflows {
            tick(*step, top, top + LENGTH, scene.palette.bad);
        }
    }
    for (step, _) in scene.input.recorded_compactions {
        tick(*step, top, top + LENGTH, scene.palette.text);
    }
}
