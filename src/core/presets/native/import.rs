//! Import of a user's configuration as a policy with its knobs.

use super::clauses::ClauseKeys;
use super::{FileFormat, Imported, NATIVE, Native, NativeKind, knob_value, programs, python};
use crate::engine::Knob;
use crate::json::{Map, Value};
use crate::presets;

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
    let others: Vec<String> =
        read.iter().skip(1).map(|(_, other)| other.policy.name.clone()).collect();
    let mut best = read.into_iter().map(|(_, imported)| imported).next();
    if let Some(imported) = best.as_mut().filter(|_| !others.is_empty()) {
        imported.notes.push(format!("It could also be for {}.", others.join(", ")));
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
        let own = match native.form {
            FileFormat::PythonCall => program(preset, kind, text),
            form => form.read(kind, text).ok(),
        };
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
        let parent = parents.iter().try_fold(&mut lifted, |at, key| at.get_mut(*key));
        if let Some(parent) = parent.and_then(Value::as_object_mut) {
            parent.swap_remove(*last);
        }
        if let Some(top) = lifted.as_object_mut() {
            top.extend(members.clone());
        }
    }
    vec![lifted]
}

/// Moves the items of the list below these keys to the top, each under its `type`.
fn lift_items(found: &mut Value, keys: &[&str]) {
    let Some(list) = keys.last() else {
        return;
    };
    let own = [*list];
    let items = [keys, &own[..]].into_iter().flat_map(|place| values_at(found, place));
    let items: Vec<Value> = items.filter_map(Value::as_array).flatten().cloned().collect();
    let Some(top) = found.as_object_mut().filter(|_| !items.is_empty()) else {
        return;
    };
    top.swap_remove(*list);
    if let Some(Value::Object(parent)) = top.get_mut(keys[0]) {
        parent.swap_remove(*list);
    }
    for mut item in items {
        if let Some(fields) = item.as_object_mut()
            && let Some(Value::String(name)) = fields.swap_remove("type")
            && !top.contains_key(&name)
        {
            top.insert(name, item);
        }
    }
}

/// Returns the values below these keys; `*` means each item of a list.
fn values_at<'a>(value: &'a Value, keys: &[&str]) -> Vec<&'a Value> {
    match keys.split_first() {
        None => vec![value],
        Some((&"*", rest)) => {
            let items = value.as_array().into_iter().flatten();
            items.flat_map(|item| values_at(item, rest)).collect()
        }
        Some((key, rest)) => value.get(*key).map_or_else(Vec::new, |value| values_at(value, rest)),
    }
}

/// Returns the arguments of the calls in a program: those of the chosen class at the top, others below their class.
/// Returns `None` if the program has none of them, or imports the class from another package.
fn program(preset: &str, kind: Option<&str>, text: &str) -> Option<Value> {
    let policy = presets::by_name(preset)?;
    let mut found = Value::Object(Map::new());
    let mut is_there = false;
    let class = kind.filter(|class| *class != python::NO_CLASS);
    if let Some(class) = class {
        let package = python::module_of(text, class).and_then(|module| module.split('.').next());
        let is_own = |package: &str| programs::packages(preset, class).contains(package);
        if !package.is_none_or(is_own) {
            return None;
        }
        let called = python::arguments(text, class);
        is_there = called.is_some() || package.is_some();
        found = called.unwrap_or(found);
    }
    let keys = policy.knobs.iter().filter_map(|knob| knob.key.as_deref());
    let owners = keys.filter_map(|key| Some(key.split_once('.')?.0));
    let owners = owners.flat_map(|owners| owners.split('|'));
    let owners = owners.filter(|name| python::is_owner(name));
    for name in owners.chain(ClauseKeys::of(&policy).objects()) {
        let arguments = python::arguments(text, name).filter(|_| kind != Some(name));
        if let Some(arguments) = arguments.filter(|_| !name.contains('.')) {
            is_there |= class.is_none();
            found[name] = arguments;
        }
    }
    // Other arguments of the model do not concern its context.
    if let Some(Value::Object(model)) = found.get_mut(python::MODEL) {
        let is_key = |name: &str| {
            let key = format!("{}.{name}", python::MODEL);
            let mut keys = policy.knobs.iter().filter_map(|knob| knob.key.as_deref());
            keys.any(|known| {
                known
                    .strip_prefix(&key)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        model.retain(|name, _| is_key(name));
    }
    is_there.then_some(found)
}

/// Returns the likely form of a text, with its name: JSON begins with a brace, YAML has a line that ends with a colon.
fn likely_form(text: &str) -> Option<(FileFormat, &'static str)> {
    if text.trim_start().starts_with('{') {
        return Some((FileFormat::Json, "JSON"));
    }
    let is_key = |line: &str| line.trim_end().ends_with(':');
    text.lines().any(is_key).then_some((FileFormat::Yaml, "YAML"))
}

impl Imported {
    /// Sets a knob, or notes why its value is not possible.
    fn set_knob(&mut self, knob: &Knob, value: f64) {
        let key = knob.key.as_deref().unwrap_or_default();
        match self.policy.set(&mut self.knobs, &knob.name, value) {
            Ok(()) => self.set.push(knob.name.clone()),
            Err(why) => self.notes.push(format!("{key}: {why}; using the default.")),
        }
    }

    /// Sets the knobs whose keys are paths. Adds the keys that were read.
    fn read_settings(
        &mut self,
        (native, kind): (&Native, Option<&str>),
        found: &Value,
        read: &mut Vec<String>,
    ) {
        for knob in &self.policy.knobs.clone() {
            let Some(key) = &knob.key else {
                continue;
            };
            let at = |path: &Vec<&str>| path.iter().try_fold(found, |at, key| at.get(key));
            let mut paths = native.paths(key);
            // The arguments of the chosen class are at the top.
            for path in &mut paths {
                path.drain(..usize::from(path.len() > 1 && kind == path.first().copied()));
            }
            let Some((path, value)) = paths.iter().find_map(|path| Some((path, at(path)?))) else {
                continue;
            };
            read.push(path.join("."));
            match knob_value(knob, value) {
                Some(value) => self.set_knob(knob, value),
                // `null` means the default.
                None if value.is_null() => {}
                None => {
                    self.notes.push(format!("{key}: invalid value {value}; using the default."));
                }
            }
            if let Some(why) = &knob.ignored {
                self.notes.push(format!("The shipped code ignores {key}: {why}"));
            }
        }
    }

    /// Removes limits of a kind that the settings do not have, with a note. Returns the keys of kinds that they have.
    fn read_constants(&mut self, native: &Native, found: &mut Value) -> Vec<String> {
        let mut read = Vec::new();
        for (limit, kind) in native.limit_kinds {
            let Some(other) = found.get(limit).and_then(|limit| limit.get("type")) else {
                continue;
            };
            if other == kind {
                read.push(format!("{limit}.type"));
                continue;
            }
            self.notes.push(format!("{limit}: {other} is no setting here; using the default."));
            if let Some(found) = found.as_object_mut() {
                found.swap_remove(*limit);
            }
        }
        read
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

    /// Replaces the policy by one that removes nothing, if the configuration switches compaction off. Adds the keys
    /// that were read. `None` without that policy.
    fn switch_off(&mut self, native: &Native, found: &Value, read: &mut Vec<String>) -> Option<()> {
        for (key, off) in native.off {
            let Some(value) = found.get(key) else {
                continue;
            };
            read.push((*key).to_owned());
            if is_on(value) != *off {
                continue;
            }
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let label = presets::by_name(native.system)?.label;
            let text = format!("{label} does not compact automatically: {key} is {shown}.");
            let none = Self::new(presets::by_name("none")?);
            let mut notes = std::mem::take(&mut self.notes);
            notes.push(text);
            *self = Self { notes, ..none };
        }
        Some(())
    }
}

/// Imports a parsed text for one preset, with the number of its keys in the text; `None` without such keys, or if the
/// text names another class or `type`.
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
    lift_items(&mut found, native.items);
    let mut read_constants = imported.read_constants(native, &mut found);
    let found = &found;
    let (clauses, mut read) = ClauseKeys::of(&policy).read(found);
    for (knob, value) in clauses {
        imported.set_knob(knob, value);
    }
    if named.is_some() && named == kind {
        read.push("type".to_owned());
    }
    read.append(&mut read_constants);
    imported.read_settings((native, kind), found, &mut read);
    imported.read_window(native, found, &mut read);
    imported.switch_off(native, found, &mut read)?;
    let mut all = Vec::new();
    leaves(found, "", &mut all);
    imported.unread = all
        .into_iter()
        .filter(|(_, value)| !(is_expression(value) && native.form == FileFormat::PythonCall))
        .map(|(path, _)| path)
        .filter(|path| !read.contains(path))
        .collect();
    let has_class = kind.is_some_and(|class| class != python::NO_CLASS);
    let is_class = native.form == FileFormat::PythonCall && has_class;
    let n_read = read.len() + n_removed + usize::from(is_class);
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

/// Returns whether a value of a program is no literal, such as a variable, or a list with one.
fn is_expression(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(|items| items.iter().any(is_expression))
}

/// Collects everything that is not a mapping, with its path.
fn leaves<'a>(value: &'a Value, at: &str, paths: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                leaves(value, &at, paths);
            }
        }
        _ if !at.is_empty() => paths.push((at.to_owned(), value)),
        _ => {}
    }
}
