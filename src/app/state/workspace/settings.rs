//! Settings as workspaces contain them.

use crate::app::state::model::knobs::{KnobKey, KnobSettings};
use crate::engine::KnobRole;
use serde::{Deserialize, Serialize};

/// A changed setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setting {
    of: Target,
    value: f64,
}

/// The target of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Target {
    /// All policies with a setting of this role and unit.
    Shared { role: KnobRole, unit: String },
    /// One policy.
    Policy { policy: String, setting: String },
}

/// Converts settings to their form in the file.
pub(crate) fn settings(knobs: &KnobSettings) -> Vec<Setting> {
    let finite = knobs.iter().filter(|(_, value)| value.is_finite());
    let settings = finite.map(|(key, value)| Setting {
        value: *value,
        of: match key.clone() {
            KnobKey::Shared(role, unit) => Target::Shared { role, unit },
            KnobKey::Own { policy, knob } => Target::Policy { policy, setting: knob },
        },
    });
    settings.collect()
}

/// Converts settings from their form in the file.
pub(crate) fn knobs(settings: Vec<Setting>) -> KnobSettings {
    let finite = settings.into_iter().filter(|s| s.value.is_finite());
    let knobs = finite.map(|setting| {
        let key = match setting.of {
            Target::Shared { role, unit } => KnobKey::Shared(role, unit),
            Target::Policy { policy, setting } => KnobKey::Own { policy, knob: setting },
        };
        (key, setting.value)
    });
    knobs.collect()
}
