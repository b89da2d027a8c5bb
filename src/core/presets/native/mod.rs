//! Systems' own configurations: export of settings, ready to paste, and import.
//!
//! [`NATIVE`] has a row for each system. The `key` of a setting is its name in that configuration; a [`FileFormat`] is
//! the notation of keys and values. A setting that the shipped code ignores gets a note, and a comment in notations
//! with a setting per line.

mod clauses;
mod codex_profiles;
mod digitorn;
mod file_format;
mod import;
mod imported;
mod nearest;
mod programs;
mod python;
mod systems;

use crate::engine::{Knob, KnobValues, Policy};
use crate::json::{Number, Value};
use clauses::ClauseKeys;
pub use file_format::FileFormat;
pub use import::import;
pub use imported::Imported;
pub use nearest::{Nearest, all_frameworks, nearest};
use programs::{ProgramArguments, WrittenProgram};
pub use systems::{NATIVE, Native};

/// A configuration in a system's own form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Its text.
    pub text: String,
    /// Place that the text belongs in, for messages: a file, or a description.
    pub place: &'static str,
    /// Settings that the text cannot express: those without a key, and those that the shipped code ignores.
    pub notes: Vec<String>,
}

impl Exported {
    /// Returns the name of the file that the text belongs in, if it has one.
    pub fn file_name(&self) -> Option<&'static str> {
        // A part of a file follows its name: `config.yaml, in a model`.
        let name = self.place.split(',').next()?;
        (!name.contains(' ')).then_some(name)
    }
}

/// One setting with its key.
#[derive(Clone, Debug, PartialEq)]
struct NativeSetting<'a> {
    /// Name of the knob if it differs from its default; `None` for a clause.
    changed: Option<&'a str>,
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

    /// Writes settings in a notation other than that of programs.
    fn write(&self, kind: Option<&str>, mut settings: Vec<NativeSetting<'_>>) -> String {
        for (limit, kind) in self.limit_kinds {
            if settings.iter().any(|setting| setting.path.first() == Some(limit)) {
                settings.push(NativeSetting {
                    changed: None,
                    path: vec![*limit, "type"],
                    value: Value::from(*kind),
                    ignored: None,
                });
            }
        }
        if !self.items.is_empty() {
            return file_format::yaml_items(&settings, self.items);
        }
        let place = self.also_in.first().filter(|_| self.is_enclosed);
        self.form.write(kind, &settings, place.map_or(&[], |(_, keys)| keys))
    }

    /// Returns the paths of a knob's key: several for an argument of several classes (`A|B.argument`), none if the key
    /// is a description instead of a path.
    fn paths<'a>(&self, key: &'a str) -> Vec<Vec<&'a str>> {
        match key.split_once('.').filter(|_| self.form == FileFormat::PythonCall) {
            Some((classes, rest)) => classes
                .split('|')
                .filter_map(|class| {
                    let mut path = self.path(rest)?;
                    path.insert(0, class);
                    Some(path)
                })
                .collect(),
            None => self.path(key).into_iter().collect(),
        }
    }

    /// Returns the path of a key.
    fn path<'a>(&self, key: &'a str) -> Option<Vec<&'a str>> {
        // A key may be followed by a remark: `KEY, or ...`.
        let key = key.split_once(',').map_or(key, |(key, _)| key);
        let steps: Vec<&str> = match self.form {
            FileFormat::FlatJson => vec![key],
            _ => key.split('.').collect(),
        };
        let is_name =
            |s: &&str| s.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let is_nested =
            !matches!(self.form, FileFormat::Environment | FileFormat::Python | FileFormat::Toml);
        if !steps.iter().all(is_name) || (!is_nested && steps.len() > 1) {
            return None;
        }
        let root = self.root;
        match (root.first(), root.last()) {
            (Some(first), _) if steps[0] == *first => Some(steps),
            (_, Some(last)) if steps[0] == *last => {
                Some(root.iter().copied().chain(steps.into_iter().skip(1)).collect())
            }
            _ if steps.len() > 1 && !root.is_empty() => None,
            _ => Some(root.iter().copied().chain(steps).collect()),
        }
    }
}

/// Writes a policy's settings in its system's own form.
///
/// # Errors
/// One line, if the policy is not of a real system, or never acts with these settings.
pub fn export(policy: &Policy, knobs: &KnobValues) -> Result<Exported, String> {
    let native = Native::of(&policy.name).ok_or_else(|| {
        let frameworks = nearest::frameworks(&policy.name);
        if !frameworks.is_empty() {
            return format!(
                "{0} is a strategy of Plimsoll: select a framework, as in presets export {0} --for {1}; supported: {2}",
                policy.name,
                frameworks[0],
                frameworks.join(", ")
            );
        }
        let known: Vec<_> = NATIVE.iter().map(|n| n.system).collect();
        format!(
            "{} has no configuration format of its own; supported: {}",
            policy.name,
            known.join(", ")
        )
    })?;
    if !policy.knobs.iter().any(|knob| knob.key.is_some()) {
        return Err(format!("{} has no setting that its configuration can change", policy.name));
    }
    let kind = native.kind(&policy.name);
    let clause_keys = ClauseKeys::of(policy);
    let (mut settings, mut notes) = clause_keys.clauses(knobs);
    for knob in &policy.knobs {
        let is_kind = matches!(kind, Some(NativeKind::OfSetting(setting)) if setting == knob.name);
        if !is_kind {
            settings.extend(exported_setting(native, &clause_keys, knob, knobs, &mut notes));
        }
    }
    if policy.name != native.system && kind.is_none() {
        notes.push(format!(
            "Only settings are written, not the other differences between {} and {} (own hooks, another version).",
            policy.name, native.system
        ));
    }
    let kind_name = kind.map(|kind| kind.name(policy, knobs));
    let text = if native.form == FileFormat::PythonCall {
        let class = kind_name.unwrap_or_default();
        let on = clause_keys.switched_on(knobs).collect();
        let written = ProgramArguments::new(&class, on, &settings).write(&policy.name);
        let written = written.ok_or_else(|| {
            format!("{} never acts with these settings, as an agent without them", policy.name)
        })?;
        let setting = match kind {
            Some(NativeKind::OfSetting(setting)) => Some(setting),
            _ => None,
        };
        let is_changed = |name: &&str| policy.knob(name).map(|knob| knob.value) != knobs.get(name);
        let chosen = setting.filter(is_changed).map(|name| (name, vec![&*class]));
        notes.extend(without_effect(&written, &class, &settings, chosen));
        written.text
    } else {
        native.write(kind_name.as_deref(), settings)
    };
    Ok(Exported { text, place: native.file, notes })
}

/// Returns notes for changed settings that a program does not contain. `chosen` is the setting of the class.
fn without_effect(
    written: &WrittenProgram,
    class: &str,
    settings: &[NativeSetting<'_>],
    chosen: Option<(&str, Vec<&str>)>,
) -> Vec<String> {
    let changed =
        settings.iter().filter_map(|setting| Some((setting.changed?, setting.path.clone())));
    let mut missing: Vec<&str> = Vec::new();
    let mut found: Vec<&str> = Vec::new();
    for (name, path) in changed.chain(chosen) {
        if written.has(&path, class) {
            found.push(name);
        } else if !missing.contains(&name) {
            missing.push(name);
        }
    }
    missing.retain(|name| !found.contains(name));
    missing
        .iter()
        .map(|name| format!("{name} has no effect with the other settings: not written."))
        .collect()
}

/// Returns the setting of a knob that is not a clause, once for each class that has it. Returns none if the
/// configuration has none, with a note if the knob is not at its default.
fn exported_setting<'a>(
    native: &Native,
    clause_keys: &ClauseKeys<'_>,
    knob: &'a Knob,
    knobs: &KnobValues,
    notes: &mut Vec<String>,
) -> Vec<NativeSetting<'a>> {
    let value = knobs.get(&knob.name).unwrap_or(knob.value);
    let is_unset = knob.unset == Some(value) && knob.unset == Some(knob.value);
    if clauses::is_clause(knob) || clauses::is_switch(knob) || is_unset {
        return Vec::new();
    }
    let mut note_changed = |note: String| notes.extend((value != knob.value).then_some(note));
    let name = &knob.name;
    if let Some(switch) = clause_keys.is_off(knob, knobs) {
        let switch = &switch.name;
        note_changed(format!("{name} has no effect while {switch} is off: not written."));
        return Vec::new();
    }
    let paths = knob.key.as_deref().map_or_else(Vec::new, |key| native.paths(key));
    let (Some(key), false) = (&knob.key, paths.is_empty()) else {
        let key = knob.key.as_ref();
        let key = key.map_or_else(String::new, |key| format!(" ({key})"));
        note_changed(format!("{name}{key} cannot be written to {}.", native.file));
        return Vec::new();
    };
    let changed = (value != knob.value).then_some(&*knob.name);
    let value = if knob.unset == Some(value) { Value::Null } else { native_value(knob, value) };
    // A choice with a space is a description, not a value.
    if value.as_str().is_some_and(|name| name.contains(' ')) {
        return Vec::new();
    }
    if let Some(why) = &knob.ignored {
        notes.push(format!("The shipped code ignores {key}: {why}"));
    }
    let setting = |path| NativeSetting {
        changed,
        path,
        value: value.clone(),
        ignored: knob.ignored.as_deref(),
    };
    paths.into_iter().map(setting).collect()
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
        let none = || knob.choices.iter().position(|choice| choice == "none");
        return knob.unset.or_else(|| none().map(|at| at as f64));
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
    let number = || {
        let text = text.trim().replace('_', "");
        match text.strip_suffix('%').filter(|_| knob.unit.starts_with("share")) {
            Some(percent) => percent.trim_end().parse().ok().map(|n: f64| n / 100.0 * knob.scale),
            None => text.parse().ok(),
        }
    };
    choice.map(|at| at as f64).or_else(|| number().map(|n: f64| n / knob.scale))
}
