//! The thresholds: lines for window, usable window and trigger, with handles at the right edge.

use super::layout::spread;
use super::model::TimelineResponse;
use super::scene::{Memory, Scene};
use crate::app::theme;
use crate::app::widgets::{grouped, slide};
use crate::units::{Share, Tokens};
use egui::{
    Color32, CursorIcon, Id, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, TextStyle, Ui,
    Vec2, pos2, vec2,
};
use std::ops::RangeInclusive;

/// Height of a handle.
const PILL: f32 = 18.0;
/// Distance within which the pointer grabs a line near its handle.
const REACH: f32 = 5.0;
/// Length of the draggable part of the line; the rest zooms and pans the plot.
const GRIP: f32 = 24.0;
/// Windows are set in steps of 1000 tokens.
const GRAIN: f64 = 1000.0;

/// A threshold at the last call in view.
struct Threshold {
    role: Role,
    name: &'static str,
    tokens: f64,
    color: Color32,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Window,
    Usable,
    Trigger,
}

/// Handles drags and input of the thresholds; paints lines and handles.
pub(super) fn show(
    ui: &Ui,
    id: Id,
    scene: &Scene<'_>,
    memory: &mut Memory,
    out: &mut TimelineResponse,
) {
    let thresholds = thresholds(scene);
    let plot = scene.areas.plot;
    let heights: Vec<f32> = thresholds
        .iter()
        .map(|t| scene.y(t.tokens).clamp(plot.top(), plot.bottom()))
        .collect();
    let mut centers = heights.clone();
    // The strip's name is below the plot, if there is a strip.
    let below = if scene.input.heat.is_empty() {
        PILL / 2.0
    } else {
        -PILL / 2.0
    };
    let (top, bottom) = (plot.top() - PILL, plot.bottom() + below);
    spread(&mut centers, PILL + 2.0, top, bottom);
    let mut is_dragging = false;
    for ((threshold, height), center) in thresholds.iter().zip(&heights).zip(&centers) {
        let line = Rect::from_x_y_ranges(
            plot.right() - GRIP..=plot.right() + 4.0,
            height - REACH..=height + REACH,
        );
        let line = ui.interact(line, id.with((threshold.name, "line")), Sense::DRAG);
        let left = plot.right() + 4.0;
        let pill = Rect::from_x_y_ranges(
            left..=scene.areas.handles.right() - 8.0,
            center - PILL / 2.0..=center + PILL / 2.0,
        );
        let pill = ui.interact(pill, id.with(threshold.name), Sense::drag());
        for response in [&line, &pill] {
            drag(response, threshold, *height, scene, memory, out);
            is_dragging |= response.dragged();
        }
        if let Some(value) = asked(ui, &pill, threshold, scene) {
            put(threshold.role, value, scene, out);
        }
        let is_held = line.hovered() || line.dragged() || pill.hovered() || pill.dragged();
        if is_held || pill.has_focus() {
            tag(ui, threshold, *height, scene);
        }
        paint_pill(ui, threshold, &pill, *height, scene);
        for response in [line, pill] {
            response.on_hover_and_drag_cursor(CursorIcon::ResizeVertical);
        }
    }
    if !is_dragging {
        memory.top = None;
    }
}

fn thresholds(scene: &Scene<'_>) -> Vec<Threshold> {
    let (input, palette) = (scene.input, scene.palette);
    let budget = input.budget(scene.last);
    let mut all = vec![
        Threshold {
            role: Role::Window,
            name: "window",
            tokens: budget.window.as_f64(),
            color: palette.bad,
        },
        Threshold {
            role: Role::Usable,
            name: "usable",
            tokens: budget.usable().as_f64(),
            color: palette.warn,
        },
    ];
    if let Some(tokens) = input.trigger_tokens(scene.last) {
        all.push(Threshold {
            role: Role::Trigger,
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
    height: f32,
    scene: &Scene<'_>,
    memory: &mut Memory,
    out: &mut TimelineResponse,
) {
    let Some(pointer) = response.interact_pointer_pos() else {
        return;
    };
    if response.drag_started() {
        memory.grab = pointer.y - height;
        let top = scene.transform.bounds().max()[1];
        // Extends the plot to a threshold above it, so that its new position is visible.
        memory.top = Some(top.max(threshold.tokens * 1.12));
    } else if response.dragged() {
        let tokens = scene
            .transform
            .value_from_position(pointer - vec2(0.0, memory.grab))
            .y;
        let usable = scene.input.budget(scene.last).usable().as_f64().max(1.0);
        let value = if threshold.role == Role::Trigger {
            tokens / usable
        } else {
            tokens
        };
        put(threshold.role, value, scene, out);
    }
}

/// Returns the value set by an assistive tool or the keyboard: tokens, or a share for the trigger.
fn asked(ui: &Ui, pill: &Response, threshold: &Threshold, scene: &Scene<'_>) -> Option<f64> {
    let (value, range, step): (f64, RangeInclusive<f64>, f64) = match threshold.role {
        Role::Trigger => (
            scene.input.trigger.map_or(0.0, |share| share.0),
            0.02..=1.0,
            0.01,
        ),
        Role::Usable => (
            threshold.tokens,
            GRAIN..=scene.input.budget(scene.last).window.as_f64().max(GRAIN),
            GRAIN,
        ),
        Role::Window => (threshold.tokens, GRAIN..=10_000_000.0, GRAIN),
    };
    slide::asked_value(ui, pill, threshold.name, value, &range, step)
}

fn put(role: Role, value: f64, scene: &Scene<'_>, out: &mut TimelineResponse) {
    let tokens = |value: f64| Tokens(((value / GRAIN).round() * GRAIN).max(GRAIN) as u64);
    match role {
        Role::Trigger => {
            out.trigger = Some(Share(((value * 100.0).round() / 100.0).clamp(0.02, 1.0)));
        }
        Role::Usable => {
            out.output_reserve = Some(scene.input.budget(scene.last).window - tokens(value));
        }
        Role::Window => out.window = Some(tokens(value)),
    }
}

/// Paints the line of each threshold, with steps where the window changes.
pub(super) fn paint_lines(ui: &Ui, scene: &Scene<'_>, windows: &[(f64, f64, Tokens)]) {
    let painter = ui
        .painter()
        .with_clip_rect(scene.areas.plot.expand2(vec2(4.0, 1.0)));
    let mut lines = [Vec::new(), Vec::new(), Vec::new()];
    for (from, to, window) in windows {
        let usable = *window - scene.input.output_reserve;
        let trigger = scene.input.trigger.map(|share| share.0 * usable.as_f64());
        let levels = [Some(window.as_f64()), Some(usable.as_f64()), trigger];
        for (line, level) in lines.iter_mut().zip(levels) {
            if let Some(level) = level {
                let y = painter.round_to_pixel_center(scene.y(level));
                line.extend([pos2(scene.at(*from), y), pos2(scene.at(*to) + 4.0, y)]);
            }
        }
    }
    let [window, usable, trigger] = lines;
    painter.line(window, Stroke::new(1.0, scene.palette.bad));
    painter.line(usable, Stroke::new(1.0, scene.palette.warn));
    let stroke = Stroke::new(1.0, scene.palette.accent);
    painter.extend(Shape::dashed_line(&trigger, stroke, 5.0, 3.0));
}

fn paint_pill(ui: &Ui, threshold: &Threshold, pill: &Response, height: f32, scene: &Scene<'_>) {
    let painter = ui.painter();
    let palette = scene.palette;
    let is_above = scene.y(threshold.tokens) < scene.areas.plot.top() - 1.0;
    if (pill.rect.center().y - height).abs() > 1.0 && !is_above {
        let ends = [
            pos2(scene.areas.plot.right(), height),
            pill.rect.left_center(),
        ];
        painter.line_segment(ends, Stroke::new(1.0, threshold.color));
    }
    painter.rect_filled(pill.rect, theme::space::RADIUS_SMALL, threshold.color);
    let font = theme::small_strong().resolve(ui.style());
    let galley = painter.layout_no_wrap(threshold.name.to_owned(), font, palette.on_fill);
    let width = galley.size().x + 10.0;
    let left = pill.rect.center().x - width / 2.0;
    painter.galley(
        pos2(left, pill.rect.center().y - galley.size().y / 2.0),
        galley,
        palette.on_fill,
    );
    let grip = pos2(left + width - 3.0, pill.rect.center().y);
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

/// Paints the value of the dragged threshold on its line.
fn tag(ui: &Ui, threshold: &Threshold, height: f32, scene: &Scene<'_>) {
    let budget = scene.input.budget(scene.last);
    let text = match threshold.role {
        Role::Window => format!("{} tok", grouped(threshold.tokens)),
        Role::Usable => {
            format!(
                "{} tok · {} kept for the answer",
                grouped(threshold.tokens),
                grouped(budget.output_reserve.as_f64())
            )
        }
        Role::Trigger => {
            let share = scene.input.trigger.map_or(0.0, |share| share.0);
            format!("{share:.2} of usable · {} tok", grouped(threshold.tokens))
        }
    };
    let font = TextStyle::Small.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(text, font, scene.palette.text);
    let padding = vec2(8.0, 4.0);
    let size = galley.size() + 2.0 * padding;
    let center = pos2(
        scene.areas.plot.right() - size.x / 2.0 - 8.0,
        height - size.y / 2.0 - 5.0,
    );
    let rect = Rect::from_center_size(center, size);
    let rect = rect.translate(Vec2::Y * (scene.areas.flags.top() - rect.top()).max(0.0));
    let stroke = Stroke::new(1.0, threshold.color);
    ui.painter()
        .rect(rect, 4.0, scene.palette.raised, stroke, StrokeKind::Inside);
    ui.painter()
        .galley(rect.min + padding, galley, scene.palette.text);
}
