//! Axes of the curve: positions of calls and tokens, grid lines, thresholds and their labels.

use super::{ASIDE, AXIS, Curve, FONT_SIZE, LEFT, PLOT, RIGHT, ROW, TOP, WIDTH, label_shape};
use crate::report::downsample::downsampled;
use crate::report::drawing::{Anchor, Ink, Shape};
use crate::units::Tokens;

/// Scales of calls and tokens.
pub(super) struct Axes {
    n_calls: usize,
    /// Tokens at the top of the plot.
    top: f64,
}

/// Maximum ratio of window to highest sample for which the window is drawn; a higher one would flatten the curves.
const FAR: f64 = 2.5;
/// Minimum distance between labels of thresholds: the height of a line of text of 12 units.
const APART: f32 = 15.0;

/// A threshold: its name, color, dashes, and tokens at a call.
type CurveThreshold<'a> = (String, Ink, &'static [f32], Box<dyn Fn(usize) -> f64 + 'a>);

impl Axes {
    /// Creates the scales; returns `None` without a sample.
    pub(super) fn of(curve: &Curve<'_>) -> Option<Self> {
        let samples = curve.lanes.iter().flat_map(|lane| lane.samples);
        let highest = samples.map(|s| s.tokens).max()?.as_f64().max(1.0);
        let n_calls = curve.lanes.iter().map(|lane| lane.samples.len()).max()?;
        let window = curve.windows.largest().as_f64();
        let top = if window <= highest * FAR { highest.max(window) * 1.06 } else { highest * 1.25 };
        Some(Self { n_calls, top })
    }

    /// Returns the distance from the plot's left edge, in points.
    pub(super) fn across(&self, call: usize) -> f64 {
        let width = f64::from(WIDTH - LEFT - RIGHT);
        call as f64 / self.n_calls.saturating_sub(1).max(1) as f64 * width
    }

    fn x(&self, call: usize) -> f32 {
        LEFT + self.across(call) as f32
    }

    pub(super) fn y(&self, tokens: f64) -> f32 {
        let up = (tokens / self.top).clamp(0.0, 1.0) as f32;
        TOP + PLOT * (1.0 - up)
    }

    /// Returns the vertical center of a lane's row.
    pub(super) fn row(&self, nth: usize) -> f32 {
        debug_assert!(self.n_calls > 0, "there is a call");
        TOP + PLOT + AXIS + ROW * (nth as f32 + 0.5)
    }

    /// Returns the positions of ascending calls, without those closer than `apart` to the previous one.
    pub(super) fn columns(&self, calls: impl Iterator<Item = usize>, apart: f32) -> Vec<f32> {
        let mut all: Vec<f32> = Vec::new();
        for x in calls.map(|call| self.x(call).round()) {
            if all.last().is_none_or(|last| x - last >= apart) {
                all.push(x);
            }
        }
        all
    }

    /// Draws the grid with numbers of tokens and calls.
    pub(super) fn axes(&self, shapes: &mut Vec<Shape>) {
        let mut grid = Vec::new();
        let numbers = round_numbers(self.top, 5);
        for tokens in std::iter::once(0.0).chain(numbers.iter().copied()) {
            let y = self.y(tokens).round() + 0.5;
            grid.push([[LEFT, y], [WIDTH - RIGHT, y]]);
            let is_top = numbers.last() == Some(&tokens);
            let unit = if is_top { " tokens" } else { "" };
            let label = format!("{}{unit}", Tokens(tokens as u64).short());
            shapes.push(label_shape([LEFT - 8.0, y], label, Ink::Weak, Anchor::End));
        }
        let bottom = TOP + PLOT;
        for number in round_numbers(self.n_calls as f64, 10) {
            // Calls are counted from 1.
            let call = (number as usize).saturating_sub(1);
            let x = self.x(call);
            grid.push([[x, bottom], [x, bottom + 4.0]]);
            let label = crate::figure::number(call);
            shapes.push(label_shape([x, bottom + 14.0], label, Ink::Weak, Anchor::Middle));
        }
        shapes.push(Shape::Strokes { strokes: grid, ink: Ink::Hairline, width: 1.0 });
        let at = [WIDTH - RIGHT + ASIDE, bottom + 14.0];
        shapes.push(label_shape(at, "model call".to_owned(), Ink::Weak, Anchor::Start));
    }

    /// Draws window, usable window and triggers, which may change with the window. Thresholds above the plot have only
    /// a label.
    pub(super) fn thresholds(&self, curve: &Curve<'_>, shapes: &mut Vec<Shape>) {
        let last = self.n_calls - 1;
        let mut labels = Vec::new();
        for (name, ink, dashes, level) in all(curve) {
            let is_above = level(last) > self.top;
            if (0..self.n_calls).any(|call| level(call) <= self.top) {
                shapes.push(self.level(ink, dashes, &*level));
            }
            let arrow = if is_above { " \u{2191}" } else { "" };
            let label = format!("{name} {}{arrow}", Tokens(level(last) as u64).short());
            labels.push((self.y(level(last)), label, ink));
        }
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut y = TOP - APART;
        for (at, label, ink) in labels {
            y = at.max(y + APART);
            shapes.push(Shape::Text {
                at: [WIDTH - RIGHT + ASIDE, y],
                text: label,
                ink,
                anchor: Anchor::Start,
                size: FONT_SIZE,
            });
        }
    }

    fn level(&self, ink: Ink, dashes: &'static [f32], level: &dyn Fn(usize) -> f64) -> Shape {
        let calls = (0..self.n_calls).flat_map(|call| {
            // Changes are drawn vertically.
            let before = level(call.saturating_sub(1));
            [[self.across(call), before], [self.across(call), level(call)]]
        });
        let end = f64::from(WIDTH - LEFT - RIGHT);
        let mut points = downsampled(calls.chain([[end, level(self.n_calls - 1)]]));
        straighten(&mut points);
        Shape::Line {
            points: points
                .into_iter()
                .map(|[x, tokens]| [LEFT + x as f32, self.y(tokens).round() + 0.5])
                .collect(),
            ink,
            width: 1.0,
            dashes,
        }
    }
}

fn all<'a>(curve: &'a Curve<'_>) -> Vec<CurveThreshold<'a>> {
    let window = |call: usize| curve.windows.at(call).as_f64();
    let usable = |call: usize| (curve.windows.at(call) - curve.output_reserve).as_f64();
    let mut all: Vec<CurveThreshold<'a>> =
        vec![("window".to_owned(), Ink::Bad, &[], Box::new(window))];
    if curve.output_reserve > Tokens::ZERO {
        all.push(("usable".to_owned(), Ink::Warn, &[], Box::new(usable)));
    }
    for share in &curve.triggers {
        let level = move |call: usize| usable(call) * share.0;
        let dashes: &[f32] = &[6.0, 4.0];
        all.push(("trigger".to_owned(), Ink::Accent, dashes, Box::new(level)));
    }
    all
}

/// Removes points between two others of the same height.
fn straighten(points: &mut Vec<[f64; 2]>) {
    let mut kept: Vec<[f64; 2]> = Vec::with_capacity(points.len());
    for point in points.drain(..) {
        let is_between = matches!(kept[..], [.., a, b] if a[1] == b[1] && b[1] == point[1]);
        if is_between {
            kept.pop();
        }
        kept.push(point);
    }
    *points = kept;
}

/// Returns about `n` round numbers above 0 up to `most`.
fn round_numbers(most: f64, n: usize) -> Vec<f64> {
    let rough = (most / n as f64).max(1.0);
    let unit = 10_f64.powf(rough.log10().floor());
    let distance = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * unit)
        .find(|distance| *distance >= rough)
        .unwrap_or(unit);
    let count = (most / distance) as usize;
    (1..=count).map(|i| i as f64 * distance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_an_axis_are_round_and_few() {
        assert_eq!(round_numbers(212_000.0, 5), [50e3, 100e3, 150e3, 200e3]);
        assert_eq!(round_numbers(47.0, 10), [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0]);
        assert!(round_numbers(0.0, 10).is_empty());
    }

    #[test]
    fn a_level_is_two_points_however_many_calls_it_spans() {
        let mut points: Vec<_> = (0..100).map(|x| [f64::from(x), 5.0]).collect();
        straighten(&mut points);
        assert_eq!(points, [[0.0, 5.0], [99.0, 5.0]]);
    }
}
