//! Vertical marks at calls: recorded compactions, restarts and provider errors.

use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::input::CompactionFlag;
use egui::{CursorIcon, Rect, Role, Sense, Shape, Stroke, TextStyle, Ui, WidgetInfo, pos2, vec2};

/// Minimum distance of flags; closer ones are omitted.
const MIN_GAP: f32 = 3.0;
/// Minimum distance of the lines of flags.
const MIN_LINE_GAP: f32 = 28.0;
/// Length of the line of a flag in a dense group.
const STUB: f32 = 4.0;

/// A visible flag.
struct Flag {
    /// Index of its compaction.
    index: usize,
    x: f32,
    /// The flag before is close.
    is_close: bool,
}

/// Returns the visible flags, thinned out.
fn flags(chart: &Chart<'_>, ui: &Ui) -> Vec<Flag> {
    let mut out = Vec::new();
    let mut last = f32::NEG_INFINITY;
    let compactions = chart.input.recorded_compactions.iter().enumerate();
    for (index, compaction) in compactions.filter(|(_, it)| chart.shows(it.call)) {
        let x = chart.x(compaction.call);
        if x >= last + MIN_GAP {
            out.push(Flag {
                index,
                x: ui.painter().round_to_pixel_center(x),
                is_close: x < last + MIN_LINE_GAP,
            });
            last = x;
        }
    }
    out
}

/// Draws the dotted lines of recorded compactions. In a dense group, only the first is full, so that the plot stays
/// readable.
pub(crate) fn draw_lines(chart: &Chart<'_>, ui: &Ui, shapes: &mut Vec<Shape>) {
    let plot = chart.areas.plot;
    let stroke = Stroke::new(1.0, chart.palette.weak);
    for Flag { x, is_close, .. } in flags(chart, ui) {
        let bottom = if is_close { plot.top() + STUB } else { plot.bottom() };
        let ends = [pos2(x, plot.top()), pos2(x, bottom)];
        shapes.extend(Shape::dashed_line(&ends, stroke, 2.0, 3.0));
    }
}

/// Shows the flags of recorded compactions above the plot, and as many labels as fit. Returns the index of the compaction
/// whose flag was clicked.
pub(crate) fn show(ui: &Ui, chart: &Chart<'_>) -> Option<usize> {
    let (painter, palette, row) = (ui.painter(), chart.palette, chart.areas.flags);
    let mut clicked = None;
    for Flag { index, x, .. } in flags(chart, ui) {
        let CompactionFlag { call, label } = &chart.input.recorded_compactions[index];
        let place = Rect::from_center_size(pos2(x, row.center().y), vec2(12.0, row.height()));
        let id = ui.scope_id().with(("flag", index));
        let flag = ui.interact(place, id, Sense::CLICK);
        let name = format!("{label}, call {}", call + 1);
        flag.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &name));
        clicked = flag.clicked().then_some(index).or(clicked);
        let color = if flag.hovered() { palette.accent } else { palette.text };
        flag.on_hover_cursor(CursorIcon::PointingHand)
            .on_hover_text(format!("{name}: show the compaction and its summary"));
        let tip = pos2(x, row.center().y + 4.0);
        let corners = vec![tip, tip + vec2(-4.5, -8.0), tip + vec2(4.5, -8.0)];
        painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
    }
    let font = TextStyle::Small.resolve(ui.style());
    let compactions = chart.input.recorded_compactions.iter();
    let labels: Vec<_> = compactions
        .filter(|compaction| chart.shows(compaction.call))
        .map(|compaction| {
            let label = compaction.label.clone();
            let galley = painter.layout_no_wrap(label, font.clone(), palette.weak);
            (chart.x(compaction.call), galley)
        })
        .collect();
    let widths: Vec<_> = labels.iter().map(|(x, label)| (*x, label.size().x)).collect();
    let (left, right) = (row.left() - 40.0, chart.areas.handles.right() - 8.0);
    for ((_, label), start) in labels.into_iter().zip(place_labels(&widths, left, right)) {
        if let Some(start) = start {
            let at = pos2(start, row.center().y - label.size().y / 2.0);
            painter.galley(at, label, palette.weak);
        }
    }
    clicked
}

/// Returns the left edges of the labels of flags with these positions and widths, between two bounds. A label is right of
/// its flag, else left of it, else omitted.
pub(crate) fn place_labels(flags: &[(f32, f32)], left: f32, right: f32) -> Vec<Option<f32>> {
    const GAP: f32 = 8.0;
    let mut taken = left;
    let mut out = Vec::with_capacity(flags.len());
    for (index, (at, width)) in flags.iter().enumerate() {
        let end = flags.get(index + 1).map_or(right, |(next, _)| next - GAP);
        let start = if at + GAP + width <= end {
            Some(at + GAP)
        } else {
            Some(at - GAP - width).filter(|start| *start >= taken + GAP)
        };
        taken = start.map_or(*at, |start| (start + width).max(*at));
        out.push(start);
    }
    out
}

/// Draws restarts and provider errors: a dashed line through the plot, with a label at the bottom if it fits.
pub(crate) fn draw_marks(chart: &Chart<'_>, ui: &Ui, shapes: &mut Vec<Shape>) {
    let (palette, plot) = (chart.palette, chart.areas.plot);
    let font = TextStyle::Small.resolve(ui.style());
    let restarts = chart.input.restarts.iter().map(|call| (*call, "restart"));
    let errors = chart.input.errors.iter().map(|error| (error.call, "error"));
    let mut marks: Vec<(usize, &str)> = restarts.chain(errors).collect();
    marks.sort_unstable();
    let mut free = f32::NEG_INFINITY;
    for (call, name) in marks.into_iter().filter(|(call, _)| chart.shows(*call)) {
        let x = ui.painter().round_to_pixel_center(chart.x(call));
        let ends = [plot.top(), plot.bottom()].map(|y| pos2(x, y));
        let stroke = Stroke::new(1.0, palette.text);
        shapes.extend(Shape::dashed_line(&ends, stroke, 6.0, 4.0));
        if x < free {
            continue;
        }
        let name = name.to_owned();
        let name = ui.painter().layout_no_wrap(name, font.clone(), palette.text);
        let size = name.size() + vec2(10.0, 2.0);
        free = x + size.x + 4.0;
        let left = (x + 3.0).min(plot.right() - size.x);
        let tag = Rect::from_min_size(pos2(left, plot.bottom() - size.y - 3.0), size);
        let fill = palette.background.gamma_multiply(0.85);
        shapes.push(Shape::rect_filled(tag, 3.0, fill));
        shapes.push(Shape::galley(tag.min + vec2(5.0, 1.0), name, palette.text));
    }
}
