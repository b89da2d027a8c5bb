//! Knob values, shared by lanes or one lane's own: one slider drives every policy that has a knob of the same role and unit.

use crate::engine::{Budget, Knob, KnobRole, KnobValues, Policy};
use crate::units::Tokens;
use std::collections::BTreeMap;

/// What a slider sets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnobKey {
    /// Every knob of this role and unit, in all lanes.
    Shared(KnobRole, String),
    /// A knob that only this policy has.
    Own {
        /// Name of the policy.
        policy: String,
        /// Name of the knob.
        knob: String,
    },
}

impl KnobKey {
    /// The key under which a policy's knob is set.
    pub fn of(policy: &Policy, knob: &Knob) -> Self {
        match knob.role {
            Some(role) => Self::Shared(role, knob.unit.clone()),
            None => Self::Own {
                policy: policy.name.clone(),
                knob: knob.name.clone(),
            },
        }
    }
}

/// The key of every policy's output reserve.
pub fn output_reserve() -> KnobKey {
    KnobKey::Shared(KnobRole::OutputReserve, "tokens".to_owned())
}

/// Values set by hand; what is absent stands at its preset's default.
pub type KnobSettings = BTreeMap<KnobKey, f64>;

/// The values a policy runs with: its defaults, with what is set by hand kept within its own ranges.
pub fn values(policy: &Policy, settings: &KnobSettings) -> KnobValues {
    let mut values = policy.defaults();
    for knob in &policy.knobs {
        if let Some(set) = settings.get(&KnobKey::of(policy, knob)) {
            // Cannot fail: the knob is the policy's own and the value is within its range. Not put on the knob's own
            // grid: what was typed on the command line is what the window shows.
            let [low, high] = knob.range;
            let _ = policy.set(&mut values, &knob.name, set.clamp(low, high));
        }
    }
    values
}

/// The nearest value that the knob can take.
pub fn snapped(knob: &Knob, value: f64) -> f64 {
    let [low, high] = knob.range;
    if !value.is_finite() {
        return knob.value;
    }
    let value = value.clamp(low, high);
    if knob.step <= 0.0 {
        return value;
    }
    let steps = ((value - low) / knob.step).round();
    // Rounded to where steps of 0.01 read as they are written.
    let on_grid = ((low + steps * knob.step) * 1e9).round() / 1e9;
    on_grid.clamp(low, high)
}

/// The tokens at which a policy acts, where it has a knob for that.
pub fn trigger_tokens(policy: &Policy, values: &KnobValues, budget: Budget) -> Option<Tokens> {
    let knob = policy.knob_for(KnobRole::CompressionTrigger)?;
    let value = values.get(&knob.name)?;
    let tokens = value * Basis::of(knob).one(budget);
    Some(Tokens(tokens.round() as u64))
}

/// What a trigger's value is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// The whole window.
    Window,
    /// The window without the room for the answer.
    Usable,
    /// Nothing: it is a number of tokens.
    Tokens,
}

impl Basis {
    /// The one place where a unit, which is for people, decides anything.
    fn of(knob: &Knob) -> Self {
        match knob.unit.as_str() {
            "share of window" => Self::Window,
            unit if unit.starts_with("share") => Self::Usable,
            _ => Self::Tokens,
        }
    }

    /// Tokens that a value of 1 stands for.
    fn one(self, budget: Budget) -> f64 {
        match self {
            Self::Window => budget.window.as_f64(),
            Self::Usable => budget.usable().as_f64(),
            Self::Tokens => 1.0,
        }
    }
}

/// The knob's value that makes its policy act at `tokens`: the way back of [`trigger_tokens`].
pub fn trigger_value(knob: &Knob, tokens: Tokens, budget: Budget) -> f64 {
    snapped(knob, tokens.as_f64() / Basis::of(knob).one(budget).max(1.0))
}

/// Window and reserve of a policy at a window.
pub fn budget(policy: &Policy, values: &KnobValues, window: Tokens) -> Budget {
    Budget {
        window,
        output_reserve: Tokens(policy.output_reserve(values).max(0.0).round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }

    fn policy(knob: Knob) -> Policy {
        Policy {
            knobs: vec![knob],
            ..crate::app::policies::none()
        }
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
    fn knobs_of_other_units_are_not_driven() {
        let share = policy(knob("trigger", "share of usable", 0.75, [0.1, 1.0], 0.01));
        let tokens = policy(knob(
            "trigger",
            "tokens",
            100_000.0,
            [1_000.0, 1e6],
            1_000.0,
        ));
        let set = KnobSettings::from([(KnobKey::of(&share, &share.knobs[0]), 0.3)]);
        assert_eq!(values(&tokens, &set).get("trigger"), Some(100_000.0));
    }

    #[test]
    fn a_dragged_threshold_comes_back_as_the_same_tokens() {
        let budget = Budget {
            window: Tokens(200_000),
            output_reserve: Tokens(32_000),
        };
        let policy = policy(knob("trigger", "share of usable", 0.75, [0.1, 1.0], 0.01));
        let value = trigger_value(&policy.knobs[0], Tokens(126_000), budget);
        assert!((value - 0.75).abs() < 1e-12);
        assert_eq!(
            trigger_tokens(&policy, &policy.defaults(), budget),
            Some(Tokens(126_000))
        );
    }
}
