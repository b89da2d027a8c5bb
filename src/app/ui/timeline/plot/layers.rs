//! The plot of the timeline and the axis below it.

use crate::app::ui::plots::axes;
use crate::app::ui::plots::axes::AxisValues;
use crate::app::ui::plots::layer::Layer;
use crate::app::ui::timeline::plot::chart::{AXES, Chart};
use crate::app::ui::timeline::plot::{
    compared, cumulative, flags, lanes, range, stack, thresholds,
};
use crate::app::ui::widgets::grouped;
use crate::units::Tokens;
use egui::{Align2, Rect, Shape, TextStyle, Ui, UiBuilder, pos2};
use egui_plot::{AxisHints, GridInput, GridMark, PlotBounds};

/// Minimum distances between numbers of the horizontal and of the vertical axis.
const NUMBERS: [f64; 2] = [80.0, 40.0];
/// Maximum number of numbers on the vertical axis.
const MAX_NUMBERS: f64 = 6.0;

/// Draws a layer of the plot.
type Draw = fn(&Chart<'_>, &Ui, &mut Vec<Shape>);

/// The layers of the plot, from the bottom up.
const LAYERS: [(&str, Draw); 12] = [
    ("zones", thresholds::draw_zones),
    ("stack", stack::draw),
    ("selected calls", range::draw),
    ("turns", stack::draw_turns),
    ("thresholds", thresholds::draw_lines),
    ("recorded compactions", flags::draw_lines),
    ("restarts and errors", flags::draw_marks),
    ("compared session", compared::draw),
    ("lanes", lanes::draw),
    ("events", lanes::draw_events),
    ("reference curve", lanes::draw_reference),
    ("zoom box", draw_zoom_box),
];

/// Draws the plot and the axis.
pub(crate) fn show(ui: &mut Ui, chart: &Chart<'_>) {
    let plot = chart.areas.plot;
    let with_axis = plot.with_min_x(plot.left() - AXES[0]);
    let mut inner = ui.new_child(UiBuilder::new().max_rect(with_axis));
    let is_large = chart.top() >= 2000.0;
    let axis = axes::axis(ui, AxisHints::new_y(), move |tokens| {
        if is_large { thousands(tokens) } else { grouped(tokens) }
    });
    axes::plain_plot(ui, "plot")
        .width(with_axis.width())
        .height(with_axis.height())
        .show_axes([false, true])
        .custom_y_axes(vec![axis.min_thickness(AXES[0])])
        .show_grid([false, true])
        .y_grid_spacer(move |input| {
            let apart = f64::from(plot.height()) / MAX_NUMBERS;
            axes::round_values(&input, apart.max(NUMBERS[1]), AxisValues::Whole)
        })
        .show(&mut inner, |plot| {
            plot.set_plot_bounds(*chart.transform.bounds());
            for (name, draw) in LAYERS {
                plot.add(Layer::new(name, move |ui, _, shapes| {
                    draw(chart, ui, shapes);
                }));
            }
        });
    show_call_axis(ui, chart);
    lanes::paint_cursors(ui, chart);
}

/// Draws the strip of cumulative tokens and, below it, the horizontal axis.
fn show_call_axis(ui: &mut Ui, chart: &Chart<'_>) {
    let (strip, numbers) = (chart.areas.strip, chart.areas.numbers);
    let area = Rect::from_min_max(strip.min, numbers.max);
    let mut inner = ui.new_child(UiBuilder::new().max_rect(area));
    let axis = axes::axis(ui, AxisHints::new_x(), |x| grouped(x + 1.0));
    axes::plain_plot(ui, "calls")
        .width(area.width())
        .height(area.height())
        .show_axes([true, false])
        .custom_x_axes(vec![axis.min_thickness(AXES[1])])
        .show_grid(false)
        .x_grid_spacer(|input| call_marks(chart, &input))
        .show(&mut inner, |plot| {
            let bounds = [[chart.view.from, 0.0], [chart.view.to, 1.0]];
            plot.set_plot_bounds(PlotBounds::from_min_max(bounds[0], bounds[1]));
            plot.add(Layer::new("cumulative", |_, _, shapes| {
                cumulative::draw(chart, shapes);
            }));
        });
    let unit = pos2(chart.areas.handles.right() - 8.0, numbers.top());
    let font = TextStyle::Small.resolve(ui.style());
    let (text, weak) = (chart.axis.unit(), chart.palette.weak);
    ui.painter().text(unit, Align2::RIGHT_TOP, text, font, weak);
}

/// Returns the marks of the horizontal axis. Displayed numbers start at 1, so marks are at 1, 60, 120 instead of 0, 60,
/// 120.
fn call_marks(chart: &Chart<'_>, input: &GridInput) -> Vec<GridMark> {
    let numbers = GridInput {
        bounds: (input.bounds.0 + 1.0, input.bounds.1 + 1.0),
        base_step_size: input.base_step_size,
    };
    let mut marks = axes::round_values(&numbers, NUMBERS[0], AxisValues::Whole);
    marks.retain(|mark| mark.value <= chart.axis.last_number() as f64);
    let has_first = chart.view.from <= 0.0 && marks.first().is_none_or(|mark| mark.value > 1.0);
    if has_first {
        let step_size = marks.first().map_or(f64::MAX, |mark| mark.step_size);
        let value = 1.0;
        marks.insert(0, GridMark { value, step_size });
    }
    for mark in &mut marks {
        mark.value -= 1.0;
    }
    marks
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

/// Draws the zoom box that is being dragged.
fn draw_zoom_box(chart: &Chart<'_>, _ui: &Ui, shapes: &mut Vec<Shape>) {
    if let Some(part) = chart.zoom_box {
        let accent = chart.palette.accent;
        shapes.push(Shape::rect_filled(part, 0.0, accent.gamma_multiply(0.16)));
        let stroke = (1.0, accent.gamma_multiply(0.6));
        shapes.push(Shape::rect_stroke(part, 0.0, stroke, egui::StrokeKind::Inside));
    }
}
