//! Systems' own configurations: export of settings, ready to paste, and import.
//!
//! [`NATIVE`] has a row for each system. The `key` of a setting is its name in that configuration; a [`FileFormat`] is the
//! notation of keys and values. A setting that the shipped code ignores gets a note, and a comment in notations with a
//! setting per line.

mod clauses;
mod codex_profiles;
mod digitorn;
mod file_format;
mod import;
mod python;
mod systems;

use crate::engine::{Knob, KnobValues, Policy};
use clauses::ClauseKeys;
pub use file_format::FileFormat;
pub use import::{Imported, import};
use serde_json::{Number, Value};
pub use systems::{NATIVE, Native};

/// A configuration in a system's own form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Its text.
    pub text: String,
    /// Name of the file, for messages.
    pub file: &'static str,
    /// Settings that the text cannot express: those without a key, and those that the shipped code ignores.
    pub notes: Vec<String>,
}

/// One setting with its key.
#[derive(Clone, Debug, PartialEq)]
struct Setting<'a> {
    path: Vec<&'a str>,
    value: Value,
    /// Reason why the shipped code ignores it, if it does.
    ignored: Option<&'a str>,
}

/// The class or the `type` that a configuration names.
#[derive(Clone, Copy, Debug)]
enum NativeKind {
    /// This name.
    Fixed(&'static str),
    /// The choice of this setting.
    OfSetting(&'static str),
}

impl NativeKind {
    /// Returns the name at these values of a policy's knobs.
    fn name(self, policy: &Policy, knobs: &KnobValues) -> String {
        match self {
            Self::Fixed(name) => name.to_owned(),
            Self::OfSetting(setting) => {
                let knob = policy.knob(setting);
                let chosen = knobs.get(setting).unwrap_or_default() as usize;
                let name = knob.and_then(|knob| knob.choices.get(chosen));
                name.cloned().unwrap_or_default()
            }
        }
    }
}

impl Native {
    /// Returns the row of a preset.
    pub fn of(preset: &str) -> Option<&'static Self> {
        let is_of = |n: &&Self| {
            let variant = preset.strip_prefix(n.system);
            variant.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        NATIVE.iter().find(is_of)
    }

    /// Returns the class or the `type` that the configuration of a preset names.
    fn kind(&self, preset: &str) -> Option<NativeKind> {
        let mut kinds = self.kinds.iter();
        let (_, kind) = kinds.find(|(name, _)| *name == preset)?;
        Some(*kind)
    }

    /// Returns the path of a knob's key; `None` if the key is a description instead of a path.
    fn path<'a>(&self, key: &'a str) -> Option<Vec<&'a str>> {
        // A key may be followed by a remark: `KEY, or ...`.
        let key = key.split_once(',').map_or(key, |(key, _)| key);
        let steps: Vec<&str> = match self.form {
            FileFormat::FlatJson => vec![key],
            _ => key.split('.').collect(),
        };
        let is_name = |s: &&str| {
            s.chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        };
        let is_nested = !matches!(
            self.form,
            FileFormat::Environment | FileFormat::Python | FileFormat::Toml
        );
        if !steps.iter().all(is_name) || (!is_nested && steps.len() > 1) {
            return None;
        }
        let root = self.root;
        match (root.first(), root.last()) {
            (Some(first), _) if steps[0] == *first => Some(steps),
            (_, Some(last)) if steps[0] == *last => Some(
                root.iter()
                    .copied()
                    .chain(steps.into_iter().skip(1))
                    .collect(),
            ),
            _ if steps.len() > 1 && !root.is_empty() => None,
            _ => Some(root.iter().copied().chain(steps).collect()),
        }
    }
}

/// Writes a policy's settings in its system's own form.
///
/// # Errors
/// One line, if the policy is not of a real system.
pub fn export(policy: &Policy, knobs: &KnobValues) -> Result<Exported, String> {
    let native = Native::of(&policy.name).ok_or_else(|| {
        let known: Vec<_> = NATIVE.iter().map(|n| n.system).collect();
        format!(
            "{} has no configuration format of its own; supported: {}",
            policy.name,
            known.join(", ")
        )
    })?;
    if !policy.knobs.iter().any(|knob| knob.key.is_some()) {
        return Err(format!(
            "{} has no setting that its configuration can change",
            policy.name
        ));
    }
    let kind = native.kind(&policy.name);
    let clause_keys = ClauseKeys::of(policy);
    let (mut settings, mut notes) = clause_keys.clauses(knobs);
    for knob in &policy.knobs {
        let is_kind = matches!(kind, Some(NativeKind::OfSetting(setting)) if setting == knob.name);
        if !is_kind {
            settings.extend(exported_setting(
                native,
                &clause_keys,
                knob,
                knobs,
                &mut notes,
            ));
        }
    }
    if policy.name != native.system && kind.is_none() {
        notes.push(format!(
            "Only settings are written, not the other differences between {} and {} (own hooks, another version).",
            policy.name, native.system
        ));
    }
    let kind_name = kind.map(|kind| kind.name(policy, knobs));
    Ok(Exported {
        text: native.form.write(kind_name.as_deref(), &settings),
        file: native.file,
        notes,
    })
}

/// Returns the setting of a knob that is not a clause. Returns `None` if the configuration has none, with a note if the
/// knob is not at its default.
fn exported_setting<'a>(
    native: &Native,
    clause_keys: &ClauseKeys<'_>,
    knob: &'a Knob,
    knobs: &KnobValues,
    notes: &mut Vec<String>,
) -> Option<Setting<'a>> {
    let value = knobs.get(&knob.name).unwrap_or(knob.value);
    let is_unset = knob.unset == Some(value) && knob.unset == Some(knob.value);
    if clauses::is_clause(knob) || clauses::is_switch(knob) || is_unset {
        return None;
    }
    let mut note_changed = |note: String| notes.extend((value != knob.value).then_some(note));
    let name = &knob.name;
    if let Some(switch) = clause_keys.is_off(knob, knobs) {
        let switch = &switch.name;
        note_changed(format!(
            "{name} has no effect while {switch} is off: not written."
        ));
        return None;
    }
    let path = knob.key.as_deref().and_then(|key| native.path(key));
    let (Some(key), Some(path)) = (&knob.key, path) else {
        let key = knob.key.as_ref();
        let key = key.map_or_else(String::new, |key| format!(" ({key})"));
        note_changed(format!("{name}{key} cannot be written to {}.", native.file));
        return None;
    };
    let value = if knob.unset == Some(value) {
        Value::Null
    } else {
        native_value(knob, value)
    };
    // A choice with a space is a description, not a value.
    if value.as_str().is_some_and(|name| name.contains(' ')) {
        return None;
    }
    if let Some(why) = &knob.ignored {
        notes.push(format!("The shipped code ignores {key}: {why}"));
    }
    Some(Setting {
        path,
        value,
        ignored: knob.ignored.as_deref(),
    })
}

/// Converts a knob's value to the system's: a name for a choice, true or false for a switch, otherwise a number.
fn native_value(knob: &Knob, value: f64) -> Value {
    let choice = knob.choices.get(value.max(0.0) as usize);
    // 0.29 * 100 is not 29.
    let value = (value * knob.scale * 1e9).round() / 1e9;
    match choice.map(String::as_str) {
        Some("on") => Value::Bool(true),
        Some("off") => Value::Bool(false),
        Some(name) => Value::from(name),
        None if value.fract() == 0.0 => Value::from(value as i64),
        None => Number::from_f64(value).map_or(Value::Null, Value::Number),
    }
}

/// Converts a system's own value to a knob's; `None` if it does not fit.
fn knob_value(knob: &Knob, value: &Value) -> Option<f64> {
    if value.is_null() {
        return knob.unset;
    }
    let text = match value {
        Value::Bool(true) => "on".to_owned(),
        Value::Bool(false) => "off".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let is_it = |choice: &String| {
        let means = match &*text.to_lowercase() {
            "true" => "on".to_owned(),
            "false" => "off".to_owned(),
            other => other.to_owned(),
        };
        choice.to_lowercase() == means
    };
    let choice = knob.choices.iter().position(is_it);
    let number = || text.trim().replace('_', "").parse().ok();
    choice
        .map(|at| at as f64)
        .or_else(|| number().map(|n: f64| n / knob.scale))
}
