//! The background of the timeline: zones, grid, stacked area and axes.

use super::columns::Bar;
use super::layout::ticks;
use super::scene::{Curves, Scene};
use crate::app::widgets::grouped;
use crate::session::Kind;
use crate::units::Tokens;
use egui::{Align2, Color32, Mesh, Painter, Rect, Shape, Stroke, TextStyle, Ui, pos2};

/// Turns wider than this are separated by thin lines, else by ticks.
const FEW_TURNS: f32 = 72.0;
/// Turns narrower than this are not marked.
const MANY_TURNS: f32 = 3.0;

/// Zones, grid, area.
pub(super) fn ground(ui: &Ui, scene: &Scene<'_>, curves: &Curves) {
    let painter = ui
        .painter()
        .with_clip_rect(scene.areas.plot.intersect(ui.clip_rect()));
    zones(&painter, scene, &curves.windows);
    for tokens in token_ticks(scene) {
        let y = painter.round_to_pixel_center(scene.y(tokens));
        painter.hline(scene.areas.plot.x_range(), y, scene.palette.line());
    }
    area(&painter, scene, &curves.bars);
    turns(&painter, scene);
}

/// Paints faint zones: safe below the trigger, warning up to the usable window, overflow above.
fn zones(painter: &Painter, scene: &Scene<'_>, windows: &[(f64, f64, Tokens)]) {
    let (palette, plot) = (scene.palette, scene.areas.plot);
    for (from, to, window) in windows {
        let usable = (*window - scene.input.output_reserve).as_f64();
        let trigger = scene.input.trigger.map_or(usable, |share| share.0 * usable);
        let x = scene.at(*from)..=scene.at(*to);
        let levels = [plot.bottom(), scene.y(trigger), scene.y(usable), plot.top()];
        for (pair, color) in levels
            .windows(2)
            .zip([palette.ok, palette.warn, palette.bad])
        {
            if pair[1] < pair[0] {
                let zone = Rect::from_x_y_ranges(x.clone(), pair[1]..=pair[0]);
                painter.rect_filled(zone.intersect(plot), 0.0, palette.tint(color));
            }
        }
    }
}

fn token_ticks(scene: &Scene<'_>) -> Vec<f64> {
    let most = (scene.areas.plot.height() / 40.0).clamp(2.0, 6.0) as usize;
    ticks(0.0, scene.transform.bounds().max()[1], most, true)
}

fn area(painter: &Painter, scene: &Scene<'_>, bars: &[Bar]) {
    let floor = scene.areas.plot.bottom();
    let places: Vec<[f32; 2]> = bars
        .iter()
        .map(|bar| [scene.at(bar.from), scene.at(bar.to)])
        .collect();
    let is_dense = bars.iter().any(|bar| bar.from < bar.to) && bars.len() > 1;
    let mut below = vec![floor; bars.len()];
    for kind in Kind::ALL {
        let top: Vec<f32> = bars
            .iter()
            .map(|bar| scene.y(f64::from(bar.tops[kind.index()])))
            .collect();
        if top
            .iter()
            .zip(&below)
            .all(|(top, below)| below - top < 0.01)
        {
            continue;
        }
        let color = scene.palette.kind_area(kind);
        painter.add(band(&places, &top, &below, color));
        if !is_dense {
            // Triangles are not antialiased; a line along the edge is.
            let mut edge: Vec<_> = places
                .iter()
                .zip(&top)
                .map(|([from, _], y)| pos2(*from, *y))
                .collect();
            edge.extend(
                places
                    .iter()
                    .zip(&top)
                    .map(|([_, to], y)| pos2(*to, *y))
                    .next_back(),
            );
            painter.add(Shape::line(edge, Stroke::new(1.0, color)));
        }
        below = top;
    }
}

fn band(places: &[[f32; 2]], top: &[f32], below: &[f32], color: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.reserve_vertices(places.len() * 4);
    for ((place, top), below) in places.iter().zip(top).zip(below) {
        for x in place {
            mesh.colored_vertex(pos2(*x, *top), color);
            mesh.colored_vertex(pos2(*x, *below), color);
        }
    }
    for i in (0..mesh.vertices.len().saturating_sub(2) as u32).step_by(2) {
        mesh.add_triangle(i, i + 1, i + 2);
        mesh.add_triangle(i + 1, i + 2, i + 3);
    }
    mesh
}

fn turns(painter: &Painter, scene: &Scene<'_>) {
    let plot = scene.areas.plot;
    let before = |x: f64| {
        scene
            .input
            .turn_starts
            .partition_point(|start| scene.steps.x(*start) < x)
    };
    let inside = before(scene.view.from).max(1)..before(scene.view.to);
    let gap = plot.width() / (inside.len() + 1) as f32;
    if gap < MANY_TURNS {
        return;
    }
    let color = scene
        .palette
        .text
        .gamma_multiply(if gap > FEW_TURNS { 0.07 } else { 0.35 });
    let top = if gap > FEW_TURNS {
        plot.top()
    } else {
        plot.bottom() - 5.0
    };
    for start in &scene.input.turn_starts[inside] {
        let x = painter.round_to_pixel_center(scene.x(*start));
        painter.vline(x, top..=plot.bottom(), Stroke::new(1.0, color));
    }
}

/// Paints the numbers of both axes.
pub(super) fn axes(ui: &Ui, scene: &Scene<'_>) {
    let (painter, palette, plot) = (ui.painter(), scene.palette, scene.areas.plot);
    let font = TextStyle::Small.resolve(ui.style());
    let is_large = scene.transform.bounds().max()[1] >= 2000.0;
    for tokens in token_ticks(scene) {
        let text = if is_large {
            thousands(tokens)
        } else {
            grouped(tokens)
        };
        // Keep the lowest number clear of the horizontal axis.
        let y = scene.y(tokens).min(plot.bottom() - 4.0);
        let at = pos2(plot.left() - 8.0, y);
        painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), palette.weak);
    }
    painter.hline(
        plot.x_range(),
        painter.round_to_pixel_center(plot.bottom()),
        palette.line(),
    );
    let middle = scene.areas.axis.center().y;
    let unit = pos2(scene.areas.handles.right() - 8.0, middle);
    painter.text(
        unit,
        Align2::RIGHT_CENTER,
        scene.steps.unit(),
        font.clone(),
        palette.weak,
    );
    let most = (plot.width() / 80.0).max(2.0) as usize;
    // Displayed numbers start at 1, so ticks are at 1, 60, 120 instead of 0, 60, 120.
    let numbers = ticks(scene.view.from + 1.0, scene.view.to + 1.0, most, true);
    let first = (scene.view.from <= 0.0 && numbers.first().is_none_or(|n| *n > 1.0)).then_some(1.0);
    let mut free = plot.left() - 16.0;
    let count = scene.steps.numbers() as f64;
    for number in first
        .into_iter()
        .chain(numbers)
        .filter(|number| *number <= count)
    {
        let galley = painter.layout_no_wrap(grouped(number), font.clone(), palette.weak);
        let half = galley.size().x / 2.0;
        let x = scene.at(number - 1.0);
        if x - half < free || x + half > scene.areas.handles.right() - 40.0 {
            continue;
        }
        free = x + half + 12.0;
        painter.galley(
            pos2(x - half, middle - galley.size().y / 2.0),
            galley,
            palette.weak,
        );
    }
}

fn thousands(tokens: f64) -> String {
    if tokens >= 1e6 {
        Tokens(tokens as u64).short()
    } else if tokens < 1.0 {
        "0".to_owned()
    } else {
        format!("{}k", tokens / 1000.0)
    }
}
