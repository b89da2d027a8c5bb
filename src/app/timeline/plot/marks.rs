//! Curves of the timeline: lanes with their events, reported usage, and reference curves.

use super::columns;
use super::layout::{self, Grid};
use super::model::LaneLine;
use super::scene::{Curves, MARK, Scene};
use crate::app::theme::{self, Palette};
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, pos2, vec2};

/// Minimum distance of marks; closer ones are omitted.
const MARK_GAP: f32 = 12.0;
/// Minimum distance of marks of events without effect.
const NO_OP_GAP: f32 = 5.0;
/// Length of a dash of coinciding lanes.
const DASH: f32 = 6.0;
/// Dash and gap of a policy's own count.
pub(super) const COUNT_DASH: [f32; 2] = [2.0, 3.0];

/// Draws the lanes as lines, the focused one last and strongest, then the reported usage. Lanes below a coinciding lane
/// are drawn as dashes on it.
pub(super) fn lanes(ui: &Ui, scene: &Scene<'_>, curves: &Curves) {
    let painter = ui
        .painter()
        .with_clip_rect(scene.areas.plot.intersect(ui.clip_rect()));
    let curves_and_overflows = curves.lanes.iter().zip(&scene.whole.overflows);
    let mut order: Vec<_> = scene.input.lanes.iter().zip(curves_and_overflows).collect();
    order.sort_by_key(|(lane, _)| lane.focused);
    let lines: Vec<Vec<Pos2>> = order
        .iter()
        .map(|(_, (curve, _))| curve.iter().map(|point| scene.point(*point)).collect())
        .collect();
    let halves: Vec<(Vec<Pos2>, Vec<Pos2>)> = order
        .iter()
        .zip(&lines)
        .map(|((lane, _), points)| match lane.horizon {
            Some(step) => layout::split_at(points, scene.x(step)),
            None => (points.clone(), Vec::new()),
        })
        .collect();
    for (nth, ((lane, _), (solid, guess))) in order.iter().zip(&halves).enumerate() {
        let width = if lane.focused { 2.5 } else { 1.5 };
        let stroke = Stroke::new(width, ink(lane));
        painter.line(solid.clone(), stroke);
        for dash in layout::dashes(guess, DASH, turns(nth, &halves)) {
            painter.line(dash, stroke);
        }
    }
    let solids: Vec<Vec<Pos2>> = halves.into_iter().map(|(solid, _)| solid).collect();
    for (below, points) in lines.iter().enumerate() {
        let upper = &solids[below + 1..];
        let stroke = Stroke::new(1.5, ink(order[below].0));
        let gap = DASH * upper.len() as f32;
        for shared in layout::shared_runs(points, upper) {
            let offset = DASH * below as f32;
            painter.extend(Shape::dashed_line_with_offset(
                &points[shared],
                stroke,
                &[DASH],
                &[gap],
                offset,
            ));
        }
    }
    if let Some(lane) = scene.input.counting() {
        let points: Vec<Pos2> = curves.count.iter().map(|at| scene.point(*at)).collect();
        let stroke = Stroke::new(1.25, ink(lane));
        painter.extend(Shape::dashed_line(
            &points,
            stroke,
            COUNT_DASH[0],
            COUNT_DASH[1],
        ));
    }
    let reported = scene.palette.recorded.gamma_multiply(0.8);
    for at in &curves.dots {
        painter.circle_filled(scene.point(*at), 1.25, reported);
    }
    for (lane, (_, overflows)) in order {
        events(&painter, scene, lane, overflows);
    }
}

/// Draws reference curves, thin and dotted, each with its name at the end.
pub(super) fn ghosts(ui: &Ui, scene: &Scene<'_>) {
    let plot = scene.areas.plot;
    let painter = ui.painter().with_clip_rect(plot.intersect(ui.clip_rect()));
    let grid = Grid {
        from: scene.view.from,
        to: scene.view.to,
        columns: plot.width().max(1.0) as usize,
        tolerance: 0.0,
    };
    let font = theme::small_strong().resolve(ui.style());
    for ghost in scene.input.ghosts {
        let curve = columns::curve(ghost.samples, scene.steps, &grid);
        let points: Vec<Pos2> = curve.iter().map(|at| scene.point(*at)).collect();
        painter.extend(Shape::dotted_line(&points, ghost.color, 4.0, 1.0));
        painter.line(
            points.clone(),
            Stroke::new(1.0, ghost.color.gamma_multiply(0.45)),
        );
        let name = painter.layout_no_wrap(ghost.name.to_owned(), font.clone(), ghost.color);
        let Some(end) = points.iter().rev().find(|at| plot.x_range().contains(at.x)) else {
            continue;
        };
        let left = (end.x - name.size().x - 10.0).max(plot.left() + 4.0);
        let top = (end.y - name.size().y - 6.0).clamp(plot.top() + 2.0, plot.bottom() - 16.0);
        let behind = Rect::from_min_size(pos2(left, top), name.size()).expand2(vec2(4.0, 1.0));
        let fill = scene.palette.background.gamma_multiply(0.8);
        painter.rect_filled(behind, 3.0, fill);
        painter.galley(pos2(left, top), name, ghost.color);
    }
}

/// Returns the dash pattern of a coinciding lane: its index and the number of dashes, so that dashes alternate with a
/// gap.
fn turns(nth: usize, halves: &[(Vec<Pos2>, Vec<Pos2>)]) -> (usize, usize) {
    let guess = &halves[nth].1;
    let coincides = |other: &usize| {
        let other = std::slice::from_ref(&halves[*other].1);
        !layout::shared_runs(guess, other).is_empty()
    };
    let below = (0..nth).filter(coincides).count();
    let above = (nth + 1..halves.len()).filter(coincides).count();
    (below, below + above + 2)
}

/// Returns a lane's color, dimmed while it is stale.
fn ink(lane: &LaneLine<'_>) -> Color32 {
    if lane.dim {
        lane.color.gamma_multiply(0.35)
    } else {
        lane.color
    }
}

/// Draws a lane's compactions as dots on its line, events without effect as strokes below it, an end of its system as a
/// square, and the first overflow of each run as a cross.
fn events(painter: &Painter, scene: &Scene<'_>, lane: &LaneLine<'_>, overflows: &[usize]) {
    let color = ink(lane);
    let at = |step: usize| {
        lane.samples
            .get(step)
            .map(|sample| pos2(scene.x(step), scene.y(sample.tokens.as_f64())))
    };
    // Events without effect are thinned out.
    for at in apart(scene, lane.no_ops.iter().copied(), NO_OP_GAP, at) {
        let stroke = Stroke::new(1.0, color.gamma_multiply(0.8));
        painter.vline(at.x, at.y + 4.0..=at.y + 8.0, stroke);
    }
    let removals = lane.events.iter().map(|(step, _)| *step);
    for at in apart(scene, removals, MARK_GAP, at) {
        painter.circle(at, 3.0, scene.palette.background, Stroke::new(1.5, color));
    }
    let inside = |at: Pos2| at.clamp(scene.areas.plot.min + MARK, scene.areas.plot.max - MARK);
    for at in apart(scene, overflows.iter().copied(), MARK_GAP, at) {
        cross(painter, inside(at), scene.palette);
    }
    for at in apart(scene, lane.halts.iter().copied(), MARK_GAP, at) {
        let square = Rect::from_center_size(inside(at), MARK);
        let outline = Stroke::new(1.5, scene.palette.background);
        painter.rect(square, 1.0, scene.palette.bad, outline, StrokeKind::Outside);
    }
}

/// Returns the positions of visible calls with a minimum distance, from ascending calls.
fn apart(
    scene: &Scene<'_>,
    steps: impl Iterator<Item = usize>,
    gap: f32,
    at: impl Fn(usize) -> Option<Pos2>,
) -> Vec<Pos2> {
    let mut free = f32::NEG_INFINITY;
    let seen = steps.filter(|step| scene.shows(scene.steps.x(*step)));
    seen.filter_map(at)
        .filter(|at| {
            let is_free = at.x >= free;
            if is_free {
                free = at.x + gap;
            }
            is_free
        })
        .collect()
}

fn cross(painter: &Painter, at: Pos2, palette: &Palette) {
    let arm = MARK.x / 2.0;
    for stroke in [
        Stroke::new(4.0, palette.background),
        Stroke::new(2.0, palette.bad),
    ] {
        painter.line_segment([at + vec2(-arm, -arm), at + vec2(arm, arm)], stroke);
        painter.line_segment([at + vec2(-arm, arm), at + vec2(arm, -arm)], stroke);
    }
}
