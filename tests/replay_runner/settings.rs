//! Sets a preset's settings to a case's configuration.

use super::case::ReplayCase;
use plimsoll::engine::{Knob, KnobValues, Policy};
use serde_json::Value;

/// Returns the settings of a policy for a case: each setting that names a key of the system's own configuration takes
/// the value of that key, and `max_output` the case's maximum answer.
pub(crate) fn settings(case: &ReplayCase, policy: &Policy) -> Result<KnobValues, String> {
    let mut values = policy.defaults();
    let config = with_tuples(&case.config);
    for knob in &policy.knobs {
        let given = knob.key.as_deref().and_then(|key| at(&config, key));
        let value = match given {
            Some(given) => number(given, knob)?,
            None if knob.name == "max_output" => Some(case.max_output as f64),
            // The stub of Cline's cases names model and provider `stub`.
            None if knob.name == "model_chars" => Some(8.0),
            None => None,
        };
        if let Some(value) = value {
            let set = policy.set(&mut values, &knob.name, value);
            set.map_err(|error| error.to_string())?;
        }
    }
    Ok(values)
}

/// Adds the keys of LangChain's `trigger` and `keep` in the form that presets name: `trigger=("tokens" …)`. A trigger
/// with several keys needs all of them. Of several edits, the first counts.
fn with_tuples(config: &Value) -> Value {
    let mut flat = config.clone();
    let Some(members) = flat.as_object_mut() else {
        return flat;
    };
    for name in ["trigger", "keep"] {
        let given = &config[name];
        let tuples: Vec<(String, Value)> = match given {
            Value::Array(items) if items.first().is_some_and(Value::is_array) => {
                items.iter().filter_map(tuple).collect()
            }
            Value::Object(clause) => {
                members.insert(format!("{name}={{…}}"), true.into());
                let pairs = clause.iter();
                pairs
                    .map(|(kind, value)| (kind.clone(), value.clone()))
                    .collect()
            }
            _ => tuple(given).into_iter().collect(),
        };
        for (kind, value) in tuples {
            members.insert(format!("{name}=(\"{kind}\" …)"), value);
        }
    }
    let edit = config["edits"].get(0).and_then(Value::as_object);
    members.extend(edit.cloned().unwrap_or_default());
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
