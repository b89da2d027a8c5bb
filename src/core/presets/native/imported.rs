//! The result of an import.

use crate::engine::{KnobValues, Policy};
use crate::presets::{self, own::change_values};

/// An imported configuration.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The system's preset.
    pub policy: Policy,
    /// Its knobs as configured; the others at their defaults.
    pub knobs: KnobValues,
    /// Names of the knobs that the configuration sets.
    pub set: Vec<String>,
    /// The model's context window in tokens, if the configuration sets it.
    pub window: Option<u64>,
    /// Keys that do not correspond to a knob.
    pub unread: Vec<String>,
    /// The whole policy, if the configuration contains more than knobs can express (own hooks).
    pub toml: Option<String>,
    /// Notes: settings that the shipped code ignores, values out of range.
    pub notes: Vec<String>,
}

impl Imported {
    /// Returns an unchanged preset.
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            knobs: policy.defaults(),
            set: Vec::new(),
            window: None,
            unread: Vec::new(),
            notes: Vec::new(),
            toml: None,
            policy,
        }
    }

    /// Returns the policy as a separate file, with these values as its defaults.
    ///
    /// # Errors
    /// None for a bundled preset.
    pub fn to_toml(&self) -> Result<String, String> {
        if let Some(toml) = &self.toml {
            return Ok(toml.clone());
        }
        let preset = presets::PRESETS.iter().find(|p| p.name == self.policy.name);
        let preset = preset.ok_or_else(|| format!("unknown preset {}", self.policy.name))?;
        let mut table: toml::Table = toml::from_str(preset.toml).map_err(|e| e.to_string())?;
        change_values(&mut table, &self.knobs);
        toml::to_string(&table).map_err(|e| e.to_string())
    }
}
