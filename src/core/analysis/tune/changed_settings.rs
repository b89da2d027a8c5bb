//! The settings of a policy that differ from given ones.

use super::sweep::Point;
use crate::engine::{KnobValues, Policy};
use std::fmt;

/// A setting whose value differs from a given one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSetting {
    /// Name of the setting.
    pub knob: String,
    /// Its value in the syntax of `--set`.
    pub value: String,
}

impl fmt::Display for ChangedSetting {
    /// Formats the setting as `--set` takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.knob, self.value)
    }
}

/// Returns the settings that differ from `base`.
pub fn changed_settings(
    policy: &Policy,
    base: &KnobValues,
    knobs: &KnobValues,
) -> Vec<ChangedSetting> {
    let changed = |(name, value): (&str, f64)| {
        let choices = policy.knob(name).map_or(&[][..], |knob| &knob.choices);
        let choice = choices.get(value as usize).filter(|_| value >= 0.0);
        let value = choice.cloned().unwrap_or_else(|| value.to_string());
        ChangedSetting { knob: name.to_owned(), value }
    };
    let differs = |(name, value): &(&str, f64)| base.get(name) != Some(*value);
    knobs.iter().filter(differs).map(changed).collect()
}

/// Returns the number of settings that a point changes.
pub(super) fn changes(points: &[Point], idx: usize) -> usize {
    let point = &points[idx];
    let now = points.iter().find(|p| p.is_now && p.subject == point.subject);
    now.map_or(0, |now| differences(&now.knobs, &point.knobs))
}

/// Returns the number of different settings.
pub(super) fn differences(a: &KnobValues, b: &KnobValues) -> usize {
    a.iter().zip(b.iter()).filter(|(a, b)| a != b).count()
}
