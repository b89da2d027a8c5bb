//! Axes and grid of all plots: round values, small text, hairlines.

use crate::app::ui::theme::palette;
use egui::{AsIdSalt, Rangef, RichText, Sense, TextStyle, Ui};
use egui_plot::{AxisHints, GridInput, GridMark, Plot};

/// Lines and numbers of an axis are never faded or omitted for their distance: [`round_values`] keeps it large enough.
const NEVER_FADED: Rangef = Rangef { min: 1.0, max: 2.0 };

/// Returns a plot without background, crosshair and gestures.
pub fn plain_plot<'a>(ui: &Ui, id_salt: impl AsIdSalt) -> Plot<'a> {
    Plot::new(id_salt)
        .sense(Sense::hover())
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .show_crosshair(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .grid_color(palette(ui).hairline)
        .grid_spacing(NEVER_FADED)
}

/// Returns an axis with small numbers, formatted by `format`.
pub fn axis<'a>(
    ui: &Ui,
    hints: AxisHints<'a>,
    format: impl Fn(f64) -> String + 'a,
) -> AxisHints<'a> {
    hints
        .formatter(move |mark, _| format(mark.value))
        .label_spacing(NEVER_FADED)
        .tick_label_color(palette(ui).weak)
        .tick_label_font(TextStyle::Small.resolve(ui.style()))
}

/// Returns the title of an axis.
pub fn title(ui: &Ui, text: &str) -> RichText {
    RichText::new(text).small().color(palette(ui).weak)
}

/// The values that an axis may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisValues {
    /// All numbers.
    Any,
    /// Integers.
    Whole,
}

/// Returns the round values of an axis, at least `points` apart on the screen.
pub fn round_values(input: &GridInput, points: f64, values: AxisValues) -> Vec<GridMark> {
    // The base step is the width of one point, see `NEVER_FADED`.
    let least = input.base_step_size * points / f64::from(NEVER_FADED.min);
    round_values_between(input.bounds, least, values)
}

/// Returns the multiples in a range of the smallest round step that is at least `least`.
pub fn round_values_between(
    (from, to): (f64, f64),
    least: f64,
    values: AxisValues,
) -> Vec<GridMark> {
    if !least.is_finite() || least <= 0.0 {
        return Vec::new();
    }
    let power = 10f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    let found = round.into_iter().find(|size| *size >= least);
    let mut step_size = found.unwrap_or(10.0 * power);
    if values == AxisValues::Whole {
        step_size = step_size.max(1.0).round();
    }
    let (start, end) = ((from / step_size).ceil(), (to / step_size).floor());
    let mark = |nth: i64| GridMark { value: nth as f64 * step_size, step_size };
    (start as i64..=end as i64).take(1000).map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(range: (f64, f64), least: f64) -> Vec<f64> {
        let marks = round_values_between(range, least, AxisValues::Whole);
        marks.iter().map(|mark| mark.value).collect()
    }

    #[test]
    fn values_are_round_and_whole() {
        let thousands = [0.0, 50_000.0, 100_000.0, 150_000.0, 200_000.0];
        assert_eq!(values((0.0, 224_000.0), 224_000.0 / 6.0), thousands);
        assert_eq!(values((1.0, 4.0), 0.3), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn an_empty_range_has_no_values() {
        assert_eq!(values((3.0, 3.0), 0.0), [0.0; 0]);
    }
}
