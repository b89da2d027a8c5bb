//! A user's tuned policy as a preset: the original preset with other defaults and another name.

use super::PRESETS;
use crate::engine::{KnobValues, Policy};
use toml::{Table, Value};

/// Names with another meaning on the command line.
const TAKEN: [&str; 2] = ["recorded", "none"];
/// Maximum number of characters of a name. It becomes the name of a file and of lanes; longer ones would be cut in
/// every table.
const MAX_NAME_LEN: usize = 60;

/// A preset of the user.
#[derive(Clone, Debug)]
pub struct TunedPreset {
    /// Its name on the command line, made from the label.
    pub name: String,
    /// Its stored text.
    pub toml: String,
    /// The parsed policy.
    pub policy: Policy,
}

/// Makes a preset of a policy's TOML, with these values as defaults.
///
/// # Errors
/// One line that describes the problem with the label.
pub fn own(toml: &str, values: &KnobValues, label: &str) -> Result<TunedPreset, String> {
    let label = label.trim();
    let name = own_name(label)?;
    let mut table: Table = toml::from_str(toml).map_err(|e| e.to_string())?;
    change_values(&mut table, values);
    table.insert("name".to_owned(), Value::from(name.as_str()));
    table.insert("label".to_owned(), Value::from(label));
    // The proof applies only to the original preset.
    table.remove("proof");
    let toml = toml::to_string(&table).map_err(|e| e.to_string())?;
    let policy = super::parse(&toml).map_err(|e| e.to_string())?;
    Ok(TunedPreset { name, toml, policy })
}

/// Converts `My prune, 20k` to `my-prune-20k`.
///
/// # Errors
/// One line with the reason why the name is not allowed.
pub fn own_name(label: &str) -> Result<String, String> {
    if label.contains(['/', '\\']) {
        return Err("a name must not contain / or \\".to_owned());
    }
    let mut name = String::new();
    for c in label.trim().chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() {
        return Err("a name must contain letters or digits (a to z, 0 to 9)".to_owned());
    }
    if label.chars().count() > MAX_NAME_LEN {
        return Err(format!("a name must have at most {MAX_NAME_LEN} characters"));
    }
    if TAKEN.contains(&name) || PRESETS.iter().any(|preset| preset.name == name) {
        return Err(format!("{name} is already a preset; choose another name"));
    }
    Ok(name.to_owned())
}

/// Changes the defaults of a preset's knobs.
pub(super) fn change_values(preset: &mut Table, values: &KnobValues) {
    // Older files name the table `knobs`.
    let key = ["settings", "knobs"].into_iter().find(|key| preset.contains_key(*key));
    let knobs = key.and_then(|key| preset.get_mut(key)?.as_table_mut());
    for (name, knob) in knobs.into_iter().flatten() {
        if let (Some(value), Some(knob)) = (values.get(name), knob.as_table_mut()) {
            knob.insert("value".to_owned(), value.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    #[test]
    fn every_preset_can_be_saved_with_other_values() {
        for preset in PRESETS {
            let policy = preset.policy().unwrap();
            let mut values = policy.defaults();
            for knob in &policy.knobs {
                policy.set(&mut values, &knob.name, knob.range[0]).unwrap();
            }
            let own = own(preset.toml, &values, " My own: 1 ").unwrap();
            assert_eq!((&*own.name, &*own.policy.label), ("my-own-1", "My own: 1"));
            assert_eq!(own.policy.defaults(), values, "{}", preset.name);
            let back = super::own(&own.toml, &policy.defaults(), "again").unwrap();
            let named = Policy {
                name: policy.name.clone(),
                label: policy.label.clone(),
                // The proof applies only to the original preset.
                proof: policy.proof.clone(),
                ..back.policy
            };
            assert_eq!(format!("{named:?}"), format!("{policy:?}"));
        }
    }

    #[test]
    fn empty_and_reserved_names_are_rejected() {
        for label in ["", " - ", "漢字", "Recorded", "truncate", "Roo Code"] {
            assert!(own_name(label).is_err(), "{label}");
        }
        assert!(own_name(&"a".repeat(61)).is_err());
        assert!(presets::by_name("roo-code").is_some());
    }
}
