//! Constructs of frameworks that are nearest to Plimsoll's own strategies (`assets/nearest.toml`).

use super::Native;
use crate::engine::{Knob, KnobRole, KnobValues, Policy};
use crate::presets;
use crate::units::Tokens;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The nearest construct of a framework, as its preset.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// The preset.
    pub policy: Policy,
    /// Its settings.
    pub knobs: KnobValues,
    /// Differences from the strategy.
    pub notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NearestRow {
    strategy: String,
    framework: String,
    preset: String,
    settings: BTreeMap<String, NearestSource>,
    note: String,
}

/// Value of a setting.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum NearestSource {
    Number(f64),
    /// A choice, a setting of the strategy, or its trigger.
    Name(String),
}

#[derive(Deserialize)]
struct NearestTable {
    nearest: Vec<NearestRow>,
}

static TABLE: LazyLock<Vec<NearestRow>> = LazyLock::new(|| {
    let table: NearestTable = toml::from_str(include_str!("../../assets/nearest.toml"))
        .expect("the bundled table is read by a test");
    table.nearest
});

/// Returns the construct of a framework that is nearest to a strategy.
///
/// # Errors
/// One line that names the alternatives: the policy is no strategy of Plimsoll, or the framework has nothing like it.
pub fn nearest(
    policy: &Policy,
    knobs: &KnobValues,
    framework: &str,
    window: Option<Tokens>,
) -> Result<Nearest, String> {
    let name = &policy.name;
    let frameworks = frameworks(name);
    if frameworks.is_empty() {
        return Err(match Native::of(name) {
            Some(_) => format!("{name} has a configuration of its own: export it without --for"),
            None => format!("{name} is nearest to no construct of a framework"),
        });
    }
    let mut rows = TABLE.iter().filter(|row| row.strategy == *name);
    let row = rows.find(|row| row.framework == framework).ok_or_else(|| {
        let own = presets::by_name(framework).map_or_else(String::new, |_| {
            format!("; its own configuration: plimsoll presets export {framework}")
        });
        format!(
            "{framework} has nothing like {name}{own}. {name} can be exported for {}",
            frameworks.join(", ")
        )
    })?;
    row.apply(policy, knobs, window)
}

/// Returns the frameworks that have a construct like a strategy.
pub(super) fn frameworks(strategy: &str) -> Vec<&'static str> {
    let rows = TABLE.iter().filter(|row| row.strategy == strategy);
    rows.map(|row| &*row.framework).collect()
}

/// Returns the frameworks that have a construct like any strategy.
pub fn all_frameworks() -> BTreeSet<&'static str> {
    TABLE.iter().map(|row| &*row.framework).collect()
}

impl NearestRow {
    fn apply(
        &self,
        strategy: &Policy,
        values: &KnobValues,
        window: Option<Tokens>,
    ) -> Result<Nearest, String> {
        let unknown = || format!("unknown preset {}", self.preset);
        let policy = presets::by_name(&self.preset).ok_or_else(unknown)?;
        let (mut knobs, mut notes) = (policy.defaults(), vec![self.note.clone()]);
        let mut used: Vec<&str> = Vec::new();
        for (name, source) in &self.settings {
            let unknown = || format!("unknown setting {name}");
            let knob = policy.knob(name).ok_or_else(unknown)?;
            let Some(value) = source.value(knob, (strategy, values), window, &mut used) else {
                notes.push(format!(
                    "{name} is the default of {}: give --window to convert compression_trigger to tokens.",
                    self.preset
                ));
                continue;
            };
            let [low, high] = knob.range;
            policy
                .set(&mut knobs, name, value.clamp(low, high))
                .map_err(|error| error.to_string())?;
        }
        let unused = strategy.knobs.iter().map(|knob| &*knob.name);
        let unused: Vec<&str> = unused.filter(|name| !used.contains(name)).collect();
        if !unused.is_empty() {
            notes.push(format!(
                "Without a counterpart: {} of {}.",
                unused.join(", "),
                strategy.name
            ));
        }
        Ok(Nearest { policy, knobs, notes })
    }
}

impl NearestSource {
    /// Returns the value for a setting; `None` for tokens without a window. Adds the settings of the strategy that it
    /// uses.
    fn value<'a>(
        &self,
        knob: &Knob,
        (strategy, values): (&'a Policy, &KnobValues),
        window: Option<Tokens>,
        used: &mut Vec<&'a str>,
    ) -> Option<f64> {
        let name = match self {
            Self::Number(value) => return Some(*value),
            Self::Name(name) => name,
        };
        if let Some(choice) = knob.choices.iter().position(|choice| choice == name) {
            return Some(choice as f64);
        }
        let mut setting = |knob: Option<&'a Knob>| {
            let knob = knob?;
            used.push(&knob.name);
            values.get(&knob.name)
        };
        if let Some(value) = setting(strategy.knob(name)) {
            return Some(value);
        }
        let share = setting(strategy.knob_for(KnobRole::CompressionTrigger))?;
        let reserve = setting(strategy.knob_for(KnobRole::OutputReserve))?;
        let window = window.map(|window| window.0 as f64);
        let tokens = window.map(|window| (share * (window - reserve)).max(1.0));
        if name == "trigger_tokens" {
            return tokens.map(f64::round);
        }
        // Without a window, the reserve is left out.
        let share = tokens.zip(window).map_or(share, |(tokens, window)| tokens / window);
        Some((share * 1_000.0).round() / 1_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_sets_settings_of_its_preset() {
        for row in TABLE.iter() {
            let strategy = presets::by_name(&row.strategy).expect("bundled");
            for window in [None, Some(Tokens(200_000))] {
                let made = row.apply(&strategy, &strategy.defaults(), window);
                made.unwrap_or_else(|why| panic!("{} for {}: {why}", row.strategy, row.framework));
            }
        }
    }
}
