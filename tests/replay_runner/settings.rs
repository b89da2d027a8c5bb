//! Sets a preset's settings to a case's configuration.

use super::case::ReplayCase;
use super::systems::{RENAMED_KEYS, STAGE_TEXTS, STUB_VALUES, additional_keys};
use plimsoll::engine::{Knob, KnobValues, Policy};
use plimsoll::json::Value;
use plimsoll::presets::{self, PRESETS};

/// Returns the policy of a case's preset, with the texts that its configuration sets; `None` without a preset.
pub(crate) fn policy(case: &ReplayCase) -> Result<Option<Policy>, String> {
    let Some(preset) = PRESETS.iter().find(|preset| preset.name == case.preset) else {
        return Ok(None);
    };
    let config = with_tuples(case);
    let mut table: toml::Table = preset.toml.parse().map_err(|e| format!("{e}"))?;
    let stages = table.get_mut("stage").and_then(toml::Value::as_array_mut);
    for stage in stages.into_iter().flatten() {
        let Some(action) = stage.get_mut("do").and_then(toml::Value::as_table_mut) else {
            continue;
        };
        let named = action.get("named").and_then(toml::Value::as_str).map(str::to_owned);
        for text in STAGE_TEXTS {
            let takes = |action: &String| text.actions.contains(&action.as_str());
            let value = at(&config, text.config_key).filter(|_| named.as_ref().is_some_and(takes));
            let value = value.and_then(to_toml);
            action.extend(value.map(|value| (text.key.to_owned(), value)));
        }
    }
    let policy = presets::parse(&table.to_string()).map_err(|error| error.to_string())?;
    Ok(Some(policy))
}

/// Converts a value to TOML; `None` for `null`, which TOML does not have.
fn to_toml(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.clone().into(),
        Value::Array(items) => toml::Value::Array(items.iter().filter_map(to_toml).collect()),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.filter_map(|(key, value)| Some((key.clone(), to_toml(value)?)));
            toml::Value::Table(fields.collect())
        }
    })
}

/// Returns the settings of a policy for a case: each setting that names a key of the system's own configuration takes
/// the value of that key, and `max_output` the case's maximum answer.
pub(crate) fn settings(case: &ReplayCase, policy: &Policy) -> Result<KnobValues, String> {
    let mut values = policy.defaults();
    let config = with_tuples(case);
    for knob in &policy.knobs {
        let key = case_key(&config, knob.key.as_deref().unwrap_or_default());
        let is_text = STAGE_TEXTS.iter().any(|text| text.config_key == key);
        let value = match at(&config, key) {
            Some(given) if is_text => number(given, knob).unwrap_or(None),
            Some(given) => number(given, knob)?,
            // An object that a configuration does not have is off.
            None if key.ends_with("={…}") => Some(0.0),
            None if knob.name == "max_output" => Some(case.max_output as f64),
            // A result, such as the size of tools' schemas, or a constant of a function has no key.
            None if knob.key.is_none() && !config[&knob.name].is_null() => {
                number(&config[&knob.name], knob)?
            }
            None if knob.unset.is_some() && config.get(key) == Some(&Value::Null) => knob.unset,
            None => {
                let of_system = STUB_VALUES.iter().find(|(name, _)| *name == knob.name);
                let is_other = || of_another_kind(&case.config, knob).then_some(0.0);
                of_system.map(|(_, value)| *value).or_else(is_other)
            }
        };
        if let Some(value) = value {
            let set = policy.set(&mut values, &knob.name, value);
            set.map_err(|error| error.to_string())?;
        }
    }
    Ok(values)
}

/// Settings that state facts of the model and its tools, for which no system has a default.
const FACTS: [&str; 6] = [
    "max_output",
    "max_context_window_tokens",
    "max_input_tokens",
    "window_limit",
    "model_chars",
    "tools_tokens",
];

/// Returns whether a case runs its system with the defaults of the preset, apart from what the model, its tools and its
/// answers decide, such as the size of a summary.
pub(crate) fn has_defaults(case: &ReplayCase) -> bool {
    let Ok(Some(policy)) = policy(case) else {
        return false;
    };
    let defaults = policy.defaults();
    let is_own = |knob: &&Knob| !knob.is_assumed && !FACTS.contains(&&*knob.name);
    settings(case, &policy).is_ok_and(|values| {
        let mut own = policy.knobs.iter().filter(is_own);
        own.all(|knob| values.get(&knob.name) == defaults.get(&knob.name))
    })
}

/// Returns the key that a configuration has for a setting: cases leave out the class or the model that owns it, or name it
/// otherwise.
fn case_key<'a>(config: &Value, key: &'a str) -> &'a str {
    let renamed = RENAMED_KEYS.iter().find(|(known, _)| *known == key);
    let is_owner = |owner: &str| owner == "model" || owner.starts_with(char::is_uppercase);
    let owned = key.split_once('.').filter(|(owner, _)| is_owner(owner));
    let without_class = owned.map(|(_, rest)| rest);
    let mut others = renamed.map(|row| row.1).into_iter().chain(without_class);
    let is_there = |key: &&str| config.get(key).is_some() || at(config, key).is_some();
    if is_there(&key) {
        return key;
    }
    others.find(is_there).unwrap_or(key)
}

/// Returns whether a configuration gives an amount of another kind than a setting's (`trigger=("tokens" …)`), or none at
/// all, so that its default does not apply.
fn of_another_kind(config: &Value, knob: &Knob) -> bool {
    let amount = knob.key.as_deref().and_then(|key| key.split_once("=("));
    let root = amount.and_then(|(name, _)| name.split('.').next());
    knob.range[0] <= 0.0 && root.is_some_and(|root| config.get(root).is_some())
}

/// Adds a key for each object that the configuration has: `trigger={…}`. Adds the keys of amounts (`trigger`, `keep`) in
/// the form that presets name: `trigger=("tokens" …)`. A trigger with several keys needs all of them.
fn with_tuples(case: &ReplayCase) -> Value {
    let config = &case.config;
    let mut flat = config.clone();
    let Some(members) = flat.as_object_mut() else {
        return flat;
    };
    let given = config.as_object().into_iter().flatten();
    for (name, _) in given.filter(|(_, value)| value.is_object()) {
        members.insert(format!("{name}={{…}}"), true.into());
    }
    let names =
        ["trigger", "keep", "truncate_args_settings.trigger", "truncate_args_settings.keep"];
    for name in names {
        let given = at(config, name).unwrap_or(&Value::Null);
        let tuples: Vec<(String, Value)> = match given {
            Value::Array(items) if items.first().is_some_and(Value::is_array) => {
                items.iter().filter_map(tuple).collect()
            }
            Value::Object(clause) => {
                let pairs = clause.iter();
                pairs.map(|(kind, value)| (kind.clone(), value.clone())).collect()
            }
            _ => tuple(given).into_iter().collect(),
        };
        for (kind, value) in tuples {
            members.insert(format!("{name}=(\"{kind}\" …)"), value);
        }
    }
    members.extend(additional_keys(&case.system, config));
    flat
}

fn tuple(value: &Value) -> Option<(String, Value)> {
    Some((value[0].as_str()?.to_owned(), value[1].clone()))
}

/// Returns the value at a key. A key with dots is a path, except where the configuration has the whole key.
fn at<'a>(config: &'a Value, key: &str) -> Option<&'a Value> {
    let found = config.get(key).or_else(|| {
        let mut parts = key.split('.');
        parts.try_fold(config, |value, part| value.get(part))
    });
    found.filter(|value| !value.is_null())
}

/// Returns the value of a setting; `None` for the default.
fn number(given: &Value, knob: &Knob) -> Result<Option<f64>, String> {
    let unknown = || format!("{} = {given} is not supported", knob.name);
    let choice = |word: &str| knob.choices.iter().position(|choice| choice == word);
    let value = match given {
        Value::Number(number) => number.as_f64().map(|number| number / knob.scale),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::String(word) => choice(word).map(|nth| nth as f64),
        _ => None,
    };
    value.map(Some).ok_or_else(unknown)
}
