//! Import of a user's configuration as a policy with its knobs.

use super::clauses::ClauseKeys;
use super::{FileFormat, NATIVE, Native, NativeKind, knob_value, python};
use crate::engine::{Knob, KnobValues, Policy};
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
    /// The model's context window in tokens, if the configuration sets it.
    pub window: Option<u64>,
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
    let read = NATIVE.iter().flat_map(|native| {
        let names = presets::PRESETS.iter().map(|preset| preset.name);
        let own = names.filter(|name| Native::of(name).is_some_and(|of| std::ptr::eq(of, native)));
        own.flat_map(|preset| readings(native, preset, text))
    });
    // Select the preset that knows most of its keys. Without a difference, variants follow their system.
    let mut read: Vec<(usize, Imported)> = read.collect();
    let most = read.iter().map(|(keys, _)| *keys).max();
    read.retain(|(keys, _)| Some(*keys) == most);
    let others: Vec<String> = read
        .iter()
        .skip(1)
        .map(|(_, other)| other.policy.name.clone())
        .collect();
    let mut best = read.into_iter().map(|(_, imported)| imported).next();
    if let Some(imported) = best.as_mut().filter(|_| !others.is_empty()) {
        imported
            .notes
            .push(format!("It could also be for {}.", others.join(", ")));
    }
    best.ok_or_else(|| {
        let why = |(form, name): (FileFormat, &str)| {
            let why = form.read(None, text).err()?;
            let why = why.lines().next()?.trim_start_matches("error: ").to_owned();
            Some(format!("cannot parse as {name}: {why}"))
        };
        if let Some(why) = likely_form(text).and_then(why) {
            return why;
        }
        "no setting of a supported system found; searched for the keys of its configuration file or of its constructor. \
         `plimsoll presets list` lists the systems, `plimsoll presets show NAME` their keys"
            .to_owned()
    })
}

/// Reads a text as the configuration of a preset: one result per class that the configuration may name.
fn readings(native: &Native, preset: &str, text: &str) -> Vec<(usize, Imported)> {
    let read = |kind: Option<&str>| {
        let mut own = native.form.read(kind, text).ok();
        if let (Some(own), FileFormat::PythonCall) = (&mut own, native.form) {
            add_other_classes(own, preset, text);
        }
        let own = own.and_then(|own| imported(native, (preset, kind), &own));
        let others = native.also_in.iter().flat_map(|(form, keys)| {
            let whole = form.read(None, text).unwrap_or_default();
            let places = places(&whole, keys).into_iter();
            let read = places.filter_map(|found| imported(native, (preset, kind), &found));
            read.collect::<Vec<_>>()
        });
        own.into_iter().chain(others).max_by_key(|(keys, _)| *keys)
    };
    let setting = match native.kind(preset) {
        None => return read(None).into_iter().collect(),
        Some(NativeKind::Fixed(kind)) => return read(Some(kind)).into_iter().collect(),
        Some(NativeKind::OfSetting(setting)) => setting,
    };
    let policy = presets::by_name(preset);
    let knob = policy.as_ref().and_then(|policy| policy.knob(setting));
    let choices = knob.map_or(&[][..], |knob| &knob.choices);
    let of_class = choices.iter().enumerate().filter_map(|(at, class)| {
        let (keys, mut imported) = read(Some(class))?;
        imported.set_knob(knob?, at as f64);
        Some((keys + 1, imported))
    });
    of_class.collect()
}

/// Returns what is read below these keys: each item if they select items of a list, else the whole with the members of
/// that place at its top.
fn places(whole: &Value, keys: &[&str]) -> Vec<Value> {
    if keys.contains(&"*") {
        return values_at(whole, keys).into_iter().cloned().collect();
    }
    let mut lifted = whole.clone();
    if let Some(Value::Object(members)) = values_at(whole, keys).first()
        && let (Some((last, parents)), Some(_)) = (keys.split_last(), whole.as_object())
    {
        let parent = parents
            .iter()
            .try_fold(&mut lifted, |at, key| at.get_mut(*key));
        if let Some(parent) = parent.and_then(Value::as_object_mut) {
            parent.remove(*last);
        }
        if let Some(top) = lifted.as_object_mut() {
            top.extend(members.clone());
        }
    }
    vec![lifted]
}

/// Returns the values below these keys; `*` means each item of a list.
fn values_at<'a>(value: &'a Value, keys: &[&str]) -> Vec<&'a Value> {
    match keys.split_first() {
        None => vec![value],
        Some((&"*", rest)) => {
            let items = value.as_array().into_iter().flatten();
            items.flat_map(|item| values_at(item, rest)).collect()
        }
        Some((key, rest)) => value
            .get(*key)
            .map_or_else(Vec::new, |value| values_at(value, rest)),
    }
}

/// Adds the arguments of the other classes that a preset's keys name: `Class.setting`.
fn add_other_classes(found: &mut Value, preset: &str, text: &str) {
    let policy = presets::by_name(preset);
    let knobs = policy.iter().flat_map(|policy| &policy.knobs);
    let keys = knobs.filter_map(|knob| knob.key.as_deref()?.split_once('.'));
    for (class, _) in keys.filter(|(class, _)| python::is_class(class)) {
        if let Some(arguments) = python::arguments(text, class) {
            found[class] = arguments;
        }
    }
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
            window: None,
            unread: Vec::new(),
            notes: Vec::new(),
            toml: None,
            policy,
        }
    }

    /// Sets a knob, or notes why its value is not possible.
    fn set_knob(&mut self, knob: &Knob, value: f64) {
        let key = knob.key.as_deref().unwrap_or_default();
        match self.policy.set(&mut self.knobs, &knob.name, value) {
            Ok(()) => self.set.push(knob.name.clone()),
            Err(why) => self.notes.push(format!("{key}: {why}; using the default.")),
        }
    }

    /// Sets the knobs whose keys are paths. Adds the keys that were read.
    fn read_settings(&mut self, native: &Native, found: &Value, read: &mut Vec<String>) {
        for knob in &self.policy.knobs.clone() {
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
            match knob_value(knob, value) {
                Some(value) => self.set_knob(knob, value),
                // `null` means the default.
                None if value.is_null() => {}
                None => self
                    .notes
                    .push(format!("{key}: invalid value {value}; using the default.")),
            }
            if let Some(why) = &knob.ignored {
                self.notes
                    .push(format!("The shipped code ignores {key}: {why}"));
            }
        }
    }

    /// Sets the context window of the model. Adds the key if it was read.
    fn read_window(&mut self, native: &Native, found: &Value, read: &mut Vec<String>) {
        let Some((key, value)) = native.window.and_then(|key| Some((key, found.get(key)?))) else {
            return;
        };
        read.push(key.to_owned());
        self.window = value.as_u64().filter(|window| *window > 0);
        if self.window.is_none() {
            let note = format!("{key}: invalid value {value}; using the session's window.");
            self.notes.push(note);
        }
    }

    /// Replaces the policy by one that removes nothing, if the configuration switches compaction off. Adds the keys that were
    /// read. `None` without that policy.
    fn switch_off(&mut self, native: &Native, found: &Value, read: &mut Vec<String>) -> Option<()> {
        for (key, off) in native.off {
            let Some(value) = found.get(key) else {
                continue;
            };
            read.push((*key).to_owned());
            if is_on(value) != *off {
                continue;
            }
            let shown = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let label = presets::by_name(native.system)?.label;
            let text = format!("{label} does not compact automatically: {key} is {shown}.");
            let none = Self::new(presets::by_name("none")?);
            let mut notes = std::mem::take(&mut self.notes);
            notes.push(text);
            *self = Self { notes, ..none };
        }
        Some(())
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

/// Imports a parsed text for one preset, with the number of its keys in the text; `None` without such keys, or if the text
/// names another class or `type`.
fn imported(
    native: &Native,
    (preset, kind): (&str, Option<&str>),
    found: &Value,
) -> Option<(usize, Imported)> {
    if let Some(import) = native.import_whole {
        let imported = (preset == native.system).then(|| import(found))??;
        return Some((imported.set.len(), imported));
    }
    let named = found.get("type").and_then(Value::as_str);
    if named.is_some() && kind.is_some() && named != kind {
        return None;
    }
    let mut imported = Imported::new(presets::by_name(preset)?);
    let policy = imported.policy.clone();
    let mut found = found.clone();
    let mut n_removed = 0;
    if let Some(select) = native.select_profile {
        let known = policy.knobs.iter().filter_map(|knob| knob.key.as_deref());
        let known: Vec<&str> = known.chain(native.window).collect();
        let selection = select(&mut found, &known);
        (n_removed, imported.notes) = (selection.n_removed, selection.notes);
    }
    let found = &found;
    let (clauses, mut read) = ClauseKeys::of(&policy).read(found);
    for (knob, value) in clauses {
        imported.set_knob(knob, value);
    }
    if named.is_some() && named == kind {
        read.push("type".to_owned());
    }
    imported.read_settings(native, found, &mut read);
    imported.read_window(native, found, &mut read);
    imported.switch_off(native, found, &mut read)?;
    let mut all = Vec::new();
    leaves(found, "", &mut all);
    imported.unread = all
        .into_iter()
        .filter(|path| !read.contains(path))
        .collect();
    let n_read = read.len() + n_removed;
    (n_read > 0).then_some((n_read, imported))
}

/// Returns whether a switch is on: `true`, or an environment variable with a value such as `1`.
fn is_on(value: &Value) -> bool {
    const ON: [&str; 4] = ["1", "true", "yes", "on"];
    match value {
        Value::String(text) => ON.contains(&&*text.trim().to_lowercase()),
        other => other.as_bool() == Some(true) || other.as_u64().is_some_and(|n| n > 0),
    }
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
