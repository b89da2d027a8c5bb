//! Setting values, shared by lanes or of one lane: one slider sets every policy that has a knob of the same role and
//! unit.

use crate::engine::{Budget, Knob, KnobRole, KnobValues, Policy};
use std::collections::BTreeMap;

/// The target of a slider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnobKey {
    /// Every knob with this role and unit, in all lanes.
    Shared(KnobRole, String),
    /// A knob of one policy only.
    Own {
        /// Name of the policy.
        policy: String,
        /// Name of the knob.
        knob: String,
    },
}

impl KnobKey {
    /// Returns the key that sets a policy's knob.
    pub fn of(policy: &Policy, knob: &Knob) -> Self {
        match knob.role {
            Some(role) => Self::Shared(role, quantity(&knob.unit).to_owned()),
            None => Self::Own { policy: policy.name.clone(), knob: knob.name.clone() },
        }
    }
}

/// Returns the key of every policy's output reserve.
pub fn output_reserve() -> KnobKey {
    KnobKey::Shared(KnobRole::OutputReserve, "tokens".to_owned())
}

/// Changed values; a missing value is the default of its preset.
pub type KnobSettings = BTreeMap<KnobKey, f64>;

/// Returns the values of a policy: its defaults and the changed values, clamped to its ranges.
pub fn values(policy: &Policy, settings: &KnobSettings) -> KnobValues {
    let mut values = policy.defaults();
    for knob in &policy.knobs {
        if let Some(set) = settings.get(&KnobKey::of(policy, knob)) {
            // Cannot fail: the policy has the knob, and the value is within its range. The value is not rounded to the
            // knob's step, so that a value from the command line is unchanged.
            let [low, high] = knob.range;
            let _ = policy.set(&mut values, &knob.name, set.clamp(low, high));
        }
    }
    values
}

/// Returns the nearest value that the knob can have: a multiple of its step within its range.
pub fn snapped(knob: &Knob, value: f64) -> f64 {
    let [low, high] = knob.range;
    if !value.is_finite() {
        return knob.value;
    }
    let value = value.clamp(low, high);
    if knob.step <= 0.0 {
        return value;
    }
    let steps = (value / knob.step).round();
    // Rounded, so that steps of 0.01 give exact decimals.
    let on_grid = (steps * knob.step * 1e9).round() / 1e9;
    on_grid.clamp(low, high)
}

/// Returns the quantity of a knob's unit. All shares are one quantity.
fn quantity(unit: &str) -> &str {
    if unit.starts_with("share") { "share" } else { unit }
}

/// Returns the tokens for a trigger of 1, if its unit defines them: a share of the window, of the usable window, or of
/// another knob.
pub fn trigger_unit(
    policy: &Policy,
    values: &KnobValues,
    knob: &Knob,
    budget: Budget,
) -> Option<f64> {
    if knob.unit == "tokens" {
        return Some(1.0);
    }
    match knob.unit.strip_prefix("share of ")? {
        "window" => Some(budget.window.as_f64()),
        "usable" => Some(budget.usable().as_f64()),
        other => {
            let is_named = |k: &&Knob| {
                let key = k.key.as_deref().unwrap_or_default();
                k.name == other || key.rsplit('.').next() == Some(other)
            };
            let of = policy.knobs.iter().find(is_named)?;
            // In some systems 0 means automatic.
            values.get(&of.name).filter(|tokens| *tokens > 0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Tokens;

    fn knob(name: &str, unit: &str, value: f64, range: [f64; 2], step: f64) -> Knob {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        Knob {
            name,
            role: Some(KnobRole::CompressionTrigger),
            value,
            range,
            step,
            unit,
            help: String::new(),
            key: None,
            scale: 1.0,
            is_assumed: false,
            is_offered: true,
            sensible: None,
            ignored: None,
            unset: None,
            choices: Vec::new(),
        }
    }

    fn policy(knob: Knob) -> Policy {
        Policy { knobs: vec![knob], ..crate::app::state::model::policies::none() }
    }

    #[test]
    fn one_setting_reaches_every_policy_with_the_same_role_within_its_own_range() {
        let wide = policy(knob("trigger", "share of usable", 0.75, [0.1, 1.0], 0.01));
        let narrow = policy(knob("threshold", "share of usable", 0.85, [0.5, 0.9], 0.01));
        let key = KnobKey::of(&wide, &wide.knobs[0]);
        assert_eq!(key, KnobKey::of(&narrow, &narrow.knobs[0]));
        let set = KnobSettings::from([(key, 0.3)]);
        assert_eq!(values(&wide, &set).get("trigger"), Some(0.3));
        assert_eq!(values(&narrow, &set).get("threshold"), Some(0.5));
    }

    #[test]
    fn values_are_multiples_of_the_step_also_if_the_range_begins_between_two() {
        let share = knob("compact_to", "share of window", 0.4, [0.001, 0.99], 0.05);
        assert_eq!(snapped(&share, 0.41), 0.4);
        assert_eq!(snapped(&share, 0.0), 0.001);
        let bytes = knob("min_bytes", "bytes", 4_096.0, [1.0, 1e6], 256.0);
        assert_eq!(snapped(&bytes, 4_096.0), 4_096.0);
    }

    #[test]
    fn knobs_of_other_units_are_not_changed() {
        let share = policy(knob("trigger", "share of usable", 0.75, [0.1, 1.0], 0.01));
        let tokens = policy(knob("trigger", "tokens", 100_000.0, [1_000.0, 1e6], 1_000.0));
        let set = KnobSettings::from([(KnobKey::of(&share, &share.knobs[0]), 0.3)]);
        assert_eq!(values(&tokens, &set).get("trigger"), Some(100_000.0));
    }

    #[test]
    fn triggers_are_shares_of_their_unit() {
        let budget = Budget { window: Tokens(200_000), output_reserve: Tokens(32_000) };
        let one = |unit: &str| {
            let trigger = knob("trigger", unit, 0.75, [0.1, 1.0], 0.01);
            let mut answer = knob("answer", "tokens", 8_000.0, [0.0, 1e6], 1.0);
            answer.key = Some("agents.max_tokens".to_owned());
            let policy = Policy {
                knobs: vec![trigger, answer],
                ..crate::app::state::model::policies::none()
            };
            trigger_unit(&policy, &policy.defaults(), &policy.knobs[0], budget)
        };
        let units = ["share of usable", "share of window", "share of max_tokens", "tokens"];
        assert_eq!(units.map(one), [Some(168_000.0), Some(200_000.0), Some(8_000.0), Some(1.0)]);
        assert_eq!(one("share of context_window"), None);
    }
}
