//! A small curve below a knob: a share for each of its values, with the current value marked.

use crate::app::ui::plots::axes::plain_plot;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::{KNOB_RADIUS, KnobSpec};
use crate::units::Share;
use egui::{Response, Role, Ui, WidgetInfo};
use egui_plot::{HLine, Line, PlotBounds, Points, VLine};

/// Height of the curve, in points.
const HEIGHT: f32 = 26.0;
/// Number of points of the curve.
const POINTS: usize = 120;

/// Shows the curve below a knob's rail, aligned with it. `share` returns the height of the curve (0 to 1) at a value.
pub fn knob_curve(
    ui: &mut Ui,
    spec: &KnobSpec<'_>,
    share: &dyn Fn(f64) -> Share,
    text: &str,
) -> Response {
    let palette = palette(ui);
    let point = |x: f32, value: f64| [f64::from(x), share(value).0.clamp(0.0, 1.0)];
    let curve: Vec<[f64; 2]> = (0..=POINTS)
        .map(|nth| nth as f32 / POINTS as f32)
        .map(|x| point(x, spec.snap(spec.at(x))))
        .collect();
    let current = point(spec.share(spec.value), spec.value);
    // The ends of the curve are below the ends of the knob's travel.
    let side = f64::from(KNOB_RADIUS / (ui.available_width() - 2.0 * KNOB_RADIUS).max(1.0));
    let shown = plain_plot(ui, ("curve", spec.label))
        .height(HEIGHT)
        .show_axes(false)
        .show_grid(false)
        .show(ui, |plot| {
            plot.set_plot_bounds(PlotBounds::from_min_max([-side, -0.04], [1.0 + side, 1.1]));
            plot.hline(HLine::new("axis", 0.0).stroke(palette.line()));
            let line = Line::new("share", curve).stroke((1.25, palette.weak));
            plot.line(line.allow_band(false).fill(0.0).fill_alpha(0.14));
            plot.vline(VLine::new("current", current[0]).stroke((1.0, palette.accent)));
            let mark = Points::new("current value", vec![current]);
            plot.points(mark.radius(2.5).color(palette.accent));
        });
    let name = format!("{}: {text}", spec.label);
    let image = || WidgetInfo::labeled(Role::Image, true, &name);
    shown.response.widget_info(image);
    shown.response
}
