//! Keys that are not paths: clauses such as `trigger=("tokens" …)`, and switches such as `trigger={…}` for an object
//! that a configuration may contain.
//!
//! A setting of a clause is a limit of one kind, 0 for none. A configuration contains one clause as `("tokens",
//! 100000)`, several as a list of them, or as `{"tokens": …, "messages": …}` if the switch `trigger={…}` is on. Without
//! a switch only one clause is possible: a fraction has precedence over tokens, and tokens over messages.

use super::{NativeSetting, knob_value, native_value};
use crate::engine::{Knob, KnobValues, Policy};
use crate::json::{Map, Value};

/// Kinds of clauses, the strongest last.
const PRECEDENCE: [&str; 3] = ["messages", "tokens", "fraction"];

/// The settings of a policy with such keys.
pub(super) struct ClauseKeys<'a> {
    policy: &'a Policy,
}

impl<'a> ClauseKeys<'a> {
    pub(super) fn of(policy: &'a Policy) -> Self {
        Self { policy }
    }

    /// Returns the setting that switches off the object of a setting, if it does.
    pub(super) fn is_off(&self, knob: &Knob, knobs: &KnobValues) -> Option<&'a Knob> {
        let (parent, _) = knob.key.as_deref()?.split_once('.')?;
        self.switch(parent).filter(|switch| !is_on(switch, knobs))
    }

    /// Returns the clauses in the form of the configuration, with notes about the settings that it cannot hold.
    pub(super) fn clauses(&self, knobs: &KnobValues) -> (Vec<NativeSetting<'a>>, Vec<String>) {
        let mut names: Vec<&str> = self.all_clauses().map(|(name, ..)| name).collect();
        names.dedup();
        let (mut settings, mut notes) = (Vec::new(), Vec::new());
        for name in names {
            let value = |knob: &Knob| knobs.get(&knob.name).unwrap_or(knob.value);
            let of_name = self.all_clauses().filter(|(other, ..)| *other == name);
            let mut limits: Vec<(&str, &Knob)> = of_name
                .filter(|(.., knob)| value(knob) != 0.0)
                .map(|(_, kind, knob)| (kind, knob))
                .collect();
            let switch = self.switch(name);
            if switch.is_none() && limits.len() > 1 {
                limits.sort_by_key(|(kind, _)| PRECEDENCE.iter().position(|known| known == kind));
                let unused = limits.drain(..limits.len() - 1);
                let changed = unused.filter(|(_, knob)| value(knob) != knob.value);
                notes.extend(changed.map(|(_, knob)| {
                    format!(
                        "{} has no effect because another {name} is set: not written.",
                        knob.name
                    )
                }));
            }
            if let Some(switch) = switch.filter(|switch| is_on(switch, knobs))
                && limits.len() < 2
            {
                let switch = &switch.name;
                notes.push(format!("{switch} has no effect without several {name}: not written."));
            }
            let mut pairs = limits
                .iter()
                .map(|(kind, knob)| ((*kind).to_owned(), native_value(knob, value(knob))));
            let pair = |(kind, value)| Value::from(vec![Value::String(kind), value]);
            let value = match limits.len() {
                0 => continue,
                1 => pairs.next().map_or(Value::Null, pair),
                _ if switch.is_some_and(|switch| is_on(switch, knobs)) => {
                    Value::Object(pairs.collect())
                }
                _ => pairs.map(pair).collect(),
            };
            settings.push(NativeSetting {
                changed: None,
                path: name.split('.').collect(),
                value,
                ignored: None,
            });
        }
        (settings, notes)
    }

    /// Reads clauses and objects of a configuration. Returns the settings with their values, and the keys that were
    /// read.
    pub(super) fn read(&self, found: &Value) -> (Vec<(&'a Knob, f64)>, Vec<String>) {
        let mut read = Vec::new();
        let mut keys: Vec<String> = Vec::new();
        for (name, kind, knob) in self.all_clauses() {
            let Some(value) = at(found, name).filter(|value| !value.is_null()) else {
                continue;
            };
            let limits = limits(value);
            let limit = limits.get(kind).and_then(|limit| knob_value(knob, limit));
            if limit.is_some() || knob.range[0] <= 0.0 {
                read.push((knob, limit.unwrap_or(0.0)));
            }
            keys.push(name.to_owned());
            keys.extend(limits.keys().map(|kind| format!("{name}.{kind}")));
        }
        for knob in &self.policy.knobs {
            if let Some(name) = knob.key.as_deref().and_then(object) {
                let is_there = at(found, name).is_some_and(Value::is_object);
                // An object that is absent does not identify the system.
                if is_there || !self.has_clauses(name) {
                    read.push((knob, f64::from(u8::from(is_there))));
                }
            }
        }
        (read, keys)
    }

    fn all_clauses(&self) -> impl Iterator<Item = (&'a str, &'a str, &'a Knob)> {
        let knobs = self.policy.knobs.iter();
        knobs.filter_map(|knob| {
            let (name, kind) = clause(knob.key.as_deref()?)?;
            Some((name, kind, knob))
        })
    }

    fn has_clauses(&self, name: &str) -> bool {
        self.all_clauses().any(|(other, ..)| other == name)
    }

    /// Returns the objects that are switched on.
    pub(super) fn switched_on(&self, knobs: &KnobValues) -> impl Iterator<Item = &'a str> {
        let knobs_on = self.policy.knobs.iter().filter(move |knob| is_on(knob, knobs));
        knobs_on.filter_map(|knob| object(knob.key.as_deref()?))
    }

    /// Returns the objects that a setting switches on or off.
    pub(super) fn objects(&self) -> impl Iterator<Item = &'a str> {
        let keys = self.policy.knobs.iter();
        keys.filter_map(|knob| object(knob.key.as_deref()?))
    }

    /// Returns the setting for an object that a configuration has or lacks.
    fn switch(&self, name: &str) -> Option<&'a Knob> {
        let mut knobs = self.policy.knobs.iter();
        knobs.find(|knob| knob.key.as_deref().and_then(object) == Some(name))
    }
}

/// Returns whether the key of a setting is a clause.
pub(super) fn is_clause(knob: &Knob) -> bool {
    knob.key.as_deref().and_then(clause).is_some()
}

/// Returns whether a setting states that the configuration has an object.
pub(super) fn is_switch(knob: &Knob) -> bool {
    knob.key.as_deref().and_then(object).is_some()
}

/// Returns the value at a path of keys.
fn at<'a>(found: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(found, |at, key| at.get(key))
}

fn is_on(knob: &Knob, knobs: &KnobValues) -> bool {
    knobs.get(&knob.name).unwrap_or(knob.value) != 0.0
}

/// Returns name and kind of `trigger=("tokens" …)`.
fn clause(key: &str) -> Option<(&str, &str)> {
    let (name, rest) = key.split_once("=(\"")?;
    Some((name, rest.strip_suffix("\" …)")?))
}

/// Returns the name of `trigger={…}`.
fn object(key: &str) -> Option<&str> {
    key.strip_suffix("={…}")
}

/// Returns the limits of a clause, of a list of clauses, or of an object, by kind.
fn limits(value: &Value) -> Map<String, Value> {
    let pair = |value: &Value| match value.as_array().map(Vec::as_slice) {
        Some([Value::String(kind), limit]) => Some((kind.clone(), limit.clone())),
        _ => None,
    };
    match value {
        Value::Object(limits) => limits.clone(),
        Value::Array(all) => match pair(value) {
            Some(one) => Map::from_iter([one]),
            None => all.iter().filter_map(pair).collect(),
        },
        _ => Map::new(),
    }
}
