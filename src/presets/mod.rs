//! Systems as data: one TOML file a preset in `assets/presets`, one row a preset in [`PRESETS`].

pub mod models;

use crate::engine::{Policy, PolicyError};

/// One bundled preset.
#[derive(Debug)]
pub struct Preset {
    /// Name on the command line; also the file's name.
    pub name: &'static str,
    /// Its TOML.
    pub toml: &'static str,
}

/// Every bundled preset, in the order to offer them.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "truncate",
        toml: include_str!("../../assets/presets/truncate.toml"),
    },
    Preset {
        name: "prune",
        toml: include_str!("../../assets/presets/prune.toml"),
    },
    Preset {
        name: "summarize",
        toml: include_str!("../../assets/presets/summarize.toml"),
    },
    Preset {
        name: "none",
        toml: include_str!("../../assets/presets/none.toml"),
    },
];

impl Preset {
    /// The policy it describes.
    ///
    /// # Errors
    /// None for a bundled preset: a test reads them all.
    pub fn policy(&self) -> Result<Policy, PolicyError> {
        Policy::parse(self.toml)
    }
}

/// The policy of this name.
pub fn by_name(name: &str) -> Option<Policy> {
    PRESETS.iter().find(|p| p.name == name)?.policy().ok()
}

/// Names of all presets as a list for a sentence.
pub fn names() -> String {
    PRESETS
        .iter()
        .map(|p| p.name)
        .collect::<Vec<_>>()
        .join(", ")
}
