//! Import of a user's configuration as a policy with its knobs.

use super::{FileFormat, NATIVE, Native, digitorn, knob_value};
use crate::engine::{KnobValues, Policy};
use crate::presets::{self, own::change_values};
use serde_json::Value;

/// An imported configuration.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The system's preset.
    pub policy: Policy,
    /// Its knobs as configured; the others at their defaults.
    pub knobs: KnobValues,
    /// Names of the knobs that the configuration sets.
    pub set: Vec<String>,
    /// Keys that do not correspond to a knob.
    pub unread: Vec<String>,
    /// The whole policy, if the configuration contains more than knobs can express (own hooks).
    pub toml: Option<String>,
    /// Notes: settings that the shipped code ignores, values out of range.
    pub notes: Vec<String>,
}

/// Reads a configuration of any of the systems. Detects the system from its keys.
///
/// # Errors
/// One line that describes the error, or that no system matches.
pub fn import(text: &str) -> Result<Imported, String> {
    let read = NATIVE.iter().filter_map(|native| {
        let found = native.form.read(text).ok()?;
        let imported = imported(native, &found)?;
        Some((imported.set.len(), imported))
    });
    // Select the system that knows most of its keys.
    let best = read.reduce(|a, b| if b.0 > a.0 { b } else { a });
    best.map(|(_, imported)| imported).ok_or_else(|| {
        let why = |(form, name): (FileFormat, &str)| {
            let why = form.read(text).err()?;
            let why = why.lines().next()?.trim_start_matches("error: ").to_owned();
            Some(format!("cannot parse as {name}: {why}"))
        };
        if let Some(why) = likely_form(text).and_then(why) {
            return why;
        }
        let known: Vec<_> = NATIVE
            .iter()
            .map(|n| format!("{} ({})", n.system, n.file))
            .collect();
        format!(
            "no known setting found; supported systems: {}",
            known.join(", ")
        )
    })
}

/// Returns the likely form of a text, with its name: JSON begins with a brace, YAML has a line that ends with a colon.
fn likely_form(text: &str) -> Option<(FileFormat, &'static str)> {
    if text.trim_start().starts_with('{') {
        return Some((FileFormat::Json, "JSON"));
    }
    let is_key = |line: &str| line.trim_end().ends_with(':');
    text.lines()
        .any(is_key)
        .then_some((FileFormat::Yaml, "YAML"))
}

impl Imported {
    /// Returns an unchanged preset.
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            knobs: policy.defaults(),
            set: Vec::new(),
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

/// Imports a parsed text for one system; `None` if it contains none of its keys.
fn imported(native: &Native, found: &Value) -> Option<Imported> {
    if native.system == "digitorn" {
        return digitorn::imported(found);
    }
    let mut imported = Imported::new(presets::by_name(native.system)?);
    let mut read = Vec::new();
    for knob in imported.policy.knobs.clone() {
        let Some(key) = &knob.key else {
            continue;
        };
        let Some(path) = native.path(key) else {
            continue;
        };
        let Some(value) = path.iter().try_fold(found, |at, key| at.get(key)) else {
            continue;
        };
        read.push(path.join("."));
        let set = knob_value(&knob, value)
            .ok_or_else(|| format!("{key}: invalid value {value}"))
            .and_then(|value| {
                let set = imported.policy.set(&mut imported.knobs, &knob.name, value);
                set.map_err(|e| format!("{key}: {e}"))
            });
        match set {
            Ok(()) => imported.set.push(knob.name.clone()),
            Err(why) => imported.notes.push(format!("{why}; using the default.")),
        }
        if let Some(why) = &knob.ignored {
            imported
                .notes
                .push(format!("The shipped code ignores {key}: {why}"));
        }
    }
    let mut all = Vec::new();
    leaves(found, "", &mut all);
    imported.unread = all
        .into_iter()
        .filter(|path| !read.contains(path))
        .collect();
    (!read.is_empty()).then_some(imported)
}

/// Collects the paths of everything that is not a mapping.
fn leaves(value: &Value, at: &str, paths: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let at = if at.is_empty() {
                    key.clone()
                } else {
                    format!("{at}.{key}")
                };
                leaves(value, &at, paths);
            }
        }
        _ if !at.is_empty() => paths.push(at.to_owned()),
        _ => {}
    }
}
