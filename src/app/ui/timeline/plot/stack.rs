//! The stacked area: tokens by kind, and the boundaries of turns.

use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::reduce::Bar;
use crate::session::Kind;
use egui::{Color32, Mesh, Shape, Stroke, Ui, pos2};

/// Turns wider than this are separated by lines, else by ticks.
const MIN_LINE_GAP: f32 = 72.0;
/// Turns narrower than this are not marked.
const MIN_TICK_GAP: f32 = 3.0;

/// Draws the area of each kind, in one mesh.
pub(crate) fn draw(chart: &Chart<'_>, _ui: &Ui, shapes: &mut Vec<Shape>) {
    let bars = &chart.visible.bars;
    let is_dense = bars.iter().any(|bar| bar.from < bar.to) && bars.len() > 1;
    let sides: Vec<[f32; 2]> =
        bars.iter().map(|bar| [chart.at(bar.from), chart.at(bar.to)]).collect();
    let mut below = vec![chart.y(0.0); bars.len()];
    let mut mesh = Mesh::default();
    let mut edges = Vec::new();
    let kinds = Kind::ALL.into_iter();
    for kind in kinds.filter(|kind| chart.input.isolated.is_none_or(|only| only == *kind)) {
        // An isolated kind starts at zero.
        let under = |bar: &Bar| match kind.index().checked_sub(1) {
            Some(under) if chart.input.isolated.is_some() => bar.tops[under],
            _ => 0.0,
        };
        let top: Vec<f32> = bars
            .iter()
            .map(|bar| chart.y(f64::from(bar.tops[kind.index()] - under(bar))))
            .collect();
        if top.iter().zip(&below).all(|(top, below)| below - top < 0.01) {
            continue;
        }
        let color = chart.palette.kind_area(kind);
        let columns = sides.iter().zip(top.iter().zip(&below));
        let ends = columns.flat_map(|(x, (top, below))| x.map(|x| (x, *top, *below)));
        add_band(&mut mesh, ends, color);
        if !is_dense {
            // Triangles are not antialiased; a line along the edge is.
            let columns = sides.iter().zip(&top);
            let edge = columns.flat_map(|(x, top)| x.map(|x| pos2(x, *top)));
            edges.push(Shape::line(edge.collect(), Stroke::new(1.0, color)));
        }
        below = top;
    }
    shapes.push(Shape::mesh(mesh));
    shapes.extend(edges);
}

/// Adds a band to a mesh. Each item is a position on the horizontal axis with the upper and lower end there.
pub(crate) fn add_band(
    mesh: &mut Mesh,
    ends: impl Iterator<Item = (f32, f32, f32)>,
    color: Color32,
) {
    let first = mesh.vertices.len() as u32;
    for (x, top, bottom) in ends {
        mesh.colored_vertex(pos2(x, top), color);
        mesh.colored_vertex(pos2(x, bottom), color);
    }
    let last = (mesh.vertices.len() as u32).saturating_sub(2);
    for i in (first..last).step_by(2) {
        mesh.add_triangle(i, i + 1, i + 2);
        mesh.add_triangle(i + 1, i + 2, i + 3);
    }
}

/// Draws the boundaries of turns.
pub(crate) fn draw_turns(chart: &Chart<'_>, ui: &Ui, shapes: &mut Vec<Shape>) {
    let plot = chart.areas.plot;
    let starts = chart.input.turn_starts;
    let before = |x: f64| starts.partition_point(|start| chart.axis.x(*start) < x);
    let visible = before(chart.view.from).max(1)..before(chart.view.to);
    let gap = plot.width() / (visible.len() + 1) as f32;
    if gap < MIN_TICK_GAP {
        return;
    }
    let (top, strength) =
        if gap > MIN_LINE_GAP { (plot.top(), 0.07) } else { (plot.bottom() - 5.0, 0.35) };
    let stroke = Stroke::new(1.0, chart.palette.text.gamma_multiply(strength));
    for start in &starts[visible] {
        let x = ui.painter().round_to_pixel_center(chart.x(*start));
        shapes.push(Shape::vline(x, top..=plot.bottom(), stroke));
    }
}
