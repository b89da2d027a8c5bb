//! The description of a knob: its range, its step size, and the mapping to its rail and its text.

use crate::app::state::model::tone::Tone;
use crate::app::state::wording;
use crate::app::ui::widgets::grouped;
use std::ops::RangeInclusive;

/// The state and description of a displayed knob.
#[derive(Clone, Debug)]
pub struct KnobSpec<'a> {
    /// Name, also for assistive tools.
    pub label: &'a str,
    /// Current value.
    pub value: f64,
    /// Allowed range.
    pub range: RangeInclusive<f64>,
    /// Smallest change. Valid values are whole multiples of it.
    pub step: f64,
    /// Whether the rail is logarithmic.
    pub is_logarithmic: bool,
    /// Unit, shown weak after the value.
    pub unit: &'a str,
    /// The lanes that the setting changes, shown weak after the name. May be empty.
    pub scope: &'a str,
    /// One line of help, shown while the control has the focus. May be empty.
    pub help: &'a str,
    /// Full description, shown as hover text. May be empty.
    pub hint: &'a str,
    /// Short remark. May be empty.
    pub note: &'a str,
    /// Whether the remark applies at the current value.
    pub is_noted: bool,
    /// Default value, restored by the reset button.
    pub default: f64,
    /// Consequence of the current value, if known.
    pub consequence: Option<String>,
    /// Tone of the consequence.
    pub tone: Tone,
}

/// Result of showing a knob in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KnobResponse {
    /// New value, if it changed.
    pub changed: Option<f64>,
    /// Whether the reset button set `changed` to the default.
    pub is_reset: bool,
}

impl KnobSpec<'_> {
    /// Returns the value at a share (0 to 1) of the rail.
    pub(crate) fn at(&self, share: f32) -> f64 {
        let (low, high) = (*self.range.start(), *self.range.end());
        let share = f64::from(share.clamp(0.0, 1.0));
        if !self.is_logarithmic || high <= low {
            low + share * (high - low)
        } else if low > 0.0 {
            low * (high / low).powf(share)
        } else {
            low + ((high - low).ln_1p() * share).exp_m1()
        }
    }

    /// Returns the share (0 to 1) of the rail at which a value is placed.
    pub(crate) fn share(&self, value: f64) -> f32 {
        let (low, high) = (*self.range.start(), *self.range.end());
        if high <= low {
            return 0.0;
        }
        let value = value.clamp(low, high);
        let share = if !self.is_logarithmic {
            (value - low) / (high - low)
        } else if low > 0.0 {
            (value / low).ln() / (high / low).ln()
        } else {
            (value - low).ln_1p() / (high - low).ln_1p()
        };
        share as f32
    }

    /// Returns the nearest multiple of the step size within the range.
    pub(crate) fn snap(&self, value: f64) -> f64 {
        if self.step <= 0.0 || !value.is_finite() {
            return self.value;
        }
        let whole = (value / self.step).round() * self.step;
        let scale = 10f64.powf(wording::decimals(self.step) as f64 + 2.0);
        ((whole * scale).round() / scale).clamp(*self.range.start(), *self.range.end())
    }

    /// Returns whether two values are equal within a millionth of a step, the error of rounding.
    pub(crate) fn is_same(&self, a: f64, b: f64) -> bool {
        (a - b).abs() <= self.step.abs() * 1e-6
    }

    /// Formats a value as text.
    pub(crate) fn text(&self, value: f64) -> String {
        let decimals = wording::decimals(self.step);
        if decimals > 0 { format!("{value:.decimals$}") } else { grouped(value) }
    }
}

/// Parses a typed value: `126,000`, `126k`, `0.75`, `75%`.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let text: String =
        text.chars().filter(|c| !c.is_whitespace() && *c != '_' && *c != ',').collect();
    let text = text.replace('\u{2212}', "-").to_lowercase();
    let (number, factor) = match text.chars().last()? {
        'k' => (&text[..text.len() - 1], 1e3),
        'm' => (&text[..text.len() - 1], 1e6),
        '%' => (&text[..text.len() - 1], 0.01),
        _ => (text.as_str(), 1.0),
    };
    number.parse::<f64>().ok().map(|value| value * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(range: RangeInclusive<f64>, step: f64, is_logarithmic: bool) -> KnobSpec<'static> {
        KnobSpec {
            label: "knob",
            value: 1.0,
            range,
            step,
            is_logarithmic,
            unit: "",
            scope: "",
            help: "",
            hint: "",
            note: "",
            is_noted: false,
            default: 1.0,
            consequence: None,
            tone: Tone::Plain,
        }
    }

    #[test]
    fn rail_position_and_value_are_inverse() {
        for knob in [
            spec(0.1..=1.0, 0.01, false),
            spec(1000.0..=200_000.0, 500.0, true),
            spec(0.0..=100_000.0, 1.0, true),
        ] {
            for share in [0.0f32, 0.25, 0.5, 1.0] {
                assert!((knob.share(knob.at(share)) - share).abs() < 1e-5, "{knob:?} {share}");
            }
        }
    }

    #[test]
    fn snaps_values_to_steps_and_range() {
        let near = |snapped: f64, value: f64| assert!((snapped - value).abs() < 1e-9, "{snapped}");
        near(spec(0.1..=1.0, 0.05, false).snap(0.7321), 0.75);
        near(spec(1000.0..=200_000.0, 500.0, true).snap(40_312.0), 40_500.0);
        near(spec(0.0..=8.0, 1.0, false).snap(99.0), 8.0);
    }

    #[test]
    fn parses_grouped_abbreviated_and_percent_values() {
        let near = |text, value: f64| {
            let parsed = parse(text).expect("a number");
            assert!((parsed - value).abs() < 1e-9, "{text}");
        };
        near("126,000", 126_000.0);
        near("126k", 126_000.0);
        near("1.5M", 1_500_000.0);
        near("75 %", 0.75);
        assert_eq!(parse("soon"), None);
        assert_eq!(parse(""), None);
    }
}
