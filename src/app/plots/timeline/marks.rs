//! What stands on the ground: lanes, reported usage, compactions, overflows, cursors and the hover card.

use super::columns;
use super::layout::{self, Grid, place_labels};
use super::model::LaneLine;
use super::scene::{Curves, MARK, Scene};
use crate::app::theme::{self, Palette};
use crate::units::Tokens;
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Color32, FontId, Id, LayerId, Order, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, TextStyle,
    Ui, Vec2, pos2, vec2,
};

/// Marks nearer than this to the one before are left out.
const MARK_GAP: f32 = 12.0;
/// The same for what ran in vain.
const NO_OP_GAP: f32 = 5.0;
/// Length of a dash where lanes coincide.
const DASH: f32 = 6.0;
/// Dash and gap of a policy's own count.
pub(super) const COUNT_DASH: [f32; 2] = [2.0, 3.0];
/// Widest hover card.
const CARD: f32 = 260.0;

/// Lanes as lines, the focused one last and strongest, then what the provider reported. Where lanes coincide, those
/// below show as dashes upon the one on top.
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

/// Curves that are no lanes, thin and dotted, each with its name where it ends.
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

/// Dashes of lanes that coincide stand beside each other, with a gap behind the last: which of how many is this lane's.
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

/// A lane's color, dimmed while it is stale.
fn ink(lane: &LaneLine<'_>) -> Color32 {
    if lane.dim {
        lane.color.gamma_multiply(0.35)
    } else {
        lane.color
    }
}

/// A lane's own compactions as beads on its line, what ran in vain as a small stroke below it, where its system would
/// have given up as a square, and the first of each run of overflows as a cross.
fn events(painter: &Painter, scene: &Scene<'_>, lane: &LaneLine<'_>, overflows: &[usize]) {
    let color = ink(lane);
    let at = |step: usize| {
        lane.samples
            .get(step)
            .map(|sample| pos2(scene.x(step), scene.y(sample.tokens.as_f64())))
    };
    // Many no-ops say no more than a few of them.
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

/// The places of those of some ascending steps that are in view, each so far from the one before.
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

/// What a person placed at calls: a hairline through the plot where the program was started again or the provider gave
/// an error, with its name at the foot where that has room.
pub(super) fn placed(ui: &Ui, scene: &Scene<'_>) {
    let (painter, palette, plot) = (ui.painter(), scene.palette, scene.areas.plot);
    let font = TextStyle::Small.resolve(ui.style());
    let mut free = f32::NEG_INFINITY;
    let restarts = scene.input.restarts.iter().map(|step| (*step, "restart"));
    let errors = scene.input.errors.iter().map(|error| (error.step, "error"));
    let mut marks: Vec<(usize, &str)> = restarts.chain(errors).collect();
    marks.sort_unstable();
    marks.retain(|(step, _)| scene.shows(scene.steps.x(*step)));
    for (step, name) in marks {
        let x = painter.round_to_pixel_center(scene.x(step));
        let ends = [pos2(x, plot.top()), pos2(x, plot.bottom())];
        painter.extend(Shape::dashed_line(
            &ends,
            Stroke::new(1.0, palette.text),
            6.0,
            4.0,
        ));
        if x < free {
            continue;
        }
        let name = painter.layout_no_wrap(name.to_owned(), font.clone(), palette.text);
        let size = name.size() + vec2(10.0, 2.0);
        free = x + size.x + 4.0;
        let left = (x + 3.0).min(plot.right() - size.x);
        let tag = Rect::from_min_size(pos2(left, plot.bottom() - size.y - 3.0), size);
        painter.rect_filled(tag, 3.0, palette.background.gamma_multiply(0.85));
        painter.galley(tag.min + vec2(5.0, 1.0), name, palette.text);
    }
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

/// Recorded compactions: a flag above the plot, a dotted line through it, and as many labels as have room.
pub(super) fn flags(ui: &Ui, scene: &Scene<'_>) {
    let (painter, palette) = (ui.painter(), scene.palette);
    let font = TextStyle::Small.resolve(ui.style());
    let shown: Vec<_> = scene
        .input
        .recorded_compactions
        .iter()
        .filter(|(step, _)| scene.shows(scene.steps.x(*step)))
        .map(|(step, label)| {
            (
                scene.x(*step),
                painter.layout_no_wrap(label.clone(), font.clone(), palette.weak),
            )
        })
        .collect();
    let places: Vec<_> = shown
        .iter()
        .map(|(x, galley)| (*x, galley.size().x))
        .collect();
    let starts = place_labels(
        &places,
        scene.areas.legend.left() - 40.0,
        scene.areas.handles.right() - 8.0,
    );
    let row = scene.areas.flags;
    let mut before = f32::NEG_INFINITY;
    for ((x, galley), start) in shown.into_iter().zip(starts) {
        if let Some(start) = start {
            painter.galley(
                pos2(start, row.center().y - galley.size().y / 2.0),
                galley,
                palette.weak,
            );
        }
        if x < before + 3.0 {
            continue;
        }
        let tip = pos2(painter.round_to_pixel_center(x), row.center().y + 4.0);
        let corners = vec![tip, tip + vec2(-4.5, -8.0), tip + vec2(4.5, -8.0)];
        painter.add(Shape::convex_polygon(corners, palette.text, Stroke::NONE));
        // A crowd of flags would hatch the plot: then only the first of it reaches down.
        let bottom = if x < before + 28.0 {
            row.bottom() + 4.0
        } else {
            scene.areas.plot.bottom()
        };
        let ends = [tip + vec2(0.0, 4.0), pos2(tip.x, bottom)];
        painter.extend(Shape::dashed_line(
            &ends,
            Stroke::new(1.0, palette.weak),
            2.0,
            3.0,
        ));
        before = x;
    }
}

/// The selected step as a line, and the hovered one as a fainter one.
pub(super) fn cursors(ui: &Ui, scene: &Scene<'_>, hovered: Option<usize>) {
    let painter = ui.painter();
    let span = scene.areas.flags.bottom() - 4.0..=scene.areas.plot.bottom();
    let cursor = |step: usize, color: Color32| {
        if !scene.shows(scene.steps.x(step)) {
            return;
        }
        let x = scene.x(step);
        painter.vline(
            painter.round_to_pixel_center(x),
            span.clone(),
            Stroke::new(1.0, color),
        );
        for lane in scene.input.lanes.iter().filter(|lane| !lane.dim) {
            if let Some(sample) = lane.samples.get(step) {
                let at = pos2(x, scene.y(sample.tokens.as_f64()));
                painter.circle(
                    at,
                    3.0,
                    lane.color,
                    Stroke::new(1.0, scene.palette.background),
                );
            }
        }
    };
    if let Some(step) = hovered {
        cursor(step, scene.palette.text.gamma_multiply(0.4));
    }
    if let Some(step) = scene.input.selected {
        cursor(step, scene.palette.accent);
    }
}

/// What there is to know about the step under the pointer, beside it: its title, the caller's words, and the lanes.
pub(super) fn card(ui: &Ui, id: Id, scene: &Scene<'_>, step: usize) {
    const PADDING: Vec2 = vec2(10.0, 7.0);
    const INDENT: f32 = 13.0;
    let painter = ui
        .ctx()
        .layer_painter(LayerId::new(Order::Tooltip, id.with("card")));
    let palette = scene.palette;
    let strong = theme::small_strong().resolve(ui.style());
    let small = TextStyle::Small.resolve(ui.style());
    let text = |text: String, font: &FontId, color| {
        let mut job = LayoutJob::simple_singleline(text, font.clone(), color);
        job.wrap = TextWrapping::truncate_at_width(CARD - 2.0 * PADDING.x);
        painter.layout_job(job)
    };
    let mut words = vec![text(title(scene, step), &strong, palette.text)];
    words.extend(
        (scene.input.hover_text)(step)
            .into_iter()
            .map(|line| text(line, &small, palette.weak)),
    );
    let lanes: Vec<_> = scene
        .input
        .lanes
        .iter()
        .filter_map(|lane| Some((lane, lane.samples.get(step)?)))
        .map(|(lane, sample)| {
            // What did not fit at first is told by its color, and by the cross on the line.
            let ink = if sample.overflows {
                palette.bad
            } else {
                palette.text
            };
            (
                lane.color,
                text(lane.name.to_owned(), &small, palette.weak),
                text(sample.tokens.short(), &small, ink),
            )
        })
        .collect();
    let line = words[0].size().y + 2.0;
    let widest = |widths: &mut dyn Iterator<Item = f32>| widths.fold(0.0, f32::max);
    let names = widest(&mut lanes.iter().map(|(_, name, _)| name.size().x));
    let values = widest(&mut lanes.iter().map(|(_, _, value)| value.size().x));
    let table = (INDENT + names + 14.0 + values).min(CARD - 2.0 * PADDING.x);
    let width = widest(&mut words.iter().map(|line| line.size().x)).max(table);
    let gap = if lanes.is_empty() { 0.0 } else { 4.0 };
    let size = vec2(width, line * (words.len() + lanes.len()) as f32 - 2.0 + gap) + 2.0 * PADDING;
    let rect = card_rect(scene, step, size);
    painter.add(ui.visuals().popup_shadow.as_shape(rect, 6));
    let outline = Stroke::new(1.0, palette.outline.gamma_multiply(0.6));
    painter.rect(rect, 6, palette.raised, outline, StrokeKind::Inside);
    let mut at = rect.min + PADDING;
    for word in words {
        painter.galley(at, word, palette.text);
        at.y += line;
    }
    at.y += gap;
    for (color, name, value) in lanes {
        painter.circle_filled(at + vec2(4.0, (line - 2.0) / 2.0), 3.5, color);
        painter.galley(at + vec2(INDENT, 0.0), name, palette.weak);
        let right = at.x + table - value.size().x;
        painter.galley(pos2(right, at.y), value, palette.text);
        at.y += line;
    }
}

/// To the right of the step, or to its left where the right has no room; never beyond the plot.
fn card_rect(scene: &Scene<'_>, step: usize, size: Vec2) -> Rect {
    let (x, plot) = (scene.x(step), scene.areas.plot);
    let fits = x + 10.0 + size.x <= plot.right() - 4.0;
    let left = if fits { x + 10.0 } else { x - 10.0 - size.x };
    let left = left.max(plot.left() + 4.0).round();
    Rect::from_min_size(pos2(left, (plot.top() + 8.0).round()), size)
}

/// `Call 212 · 143.1k · 85 % of usable`
pub(super) fn title(scene: &Scene<'_>, step: usize) -> String {
    let call = format!("Call {}", step + 1);
    let Some(tokens) = scene.input.tokens_at(step) else {
        return call;
    };
    let share = scene.input.budget(step).pressure(tokens).0 * 100.0;
    format!(
        "{call} · {} · {share:.0}\u{2009}% of usable",
        precise(tokens)
    )
}

/// Tokens with a decimal more than elsewhere, since here one call is looked at.
fn precise(tokens: Tokens) -> String {
    if (100_000..1_000_000).contains(&tokens.0) {
        format!("{:.1}k", tokens.as_f64() / 1e3)
    } else {
        tokens.short()
    }
}
