//! Profiles of Codex: tables of `profiles` whose settings take precedence if `profile` selects them.

use crate::json::{Map, Value};

/// The result of a selection.
#[derive(Default)]
pub(super) struct ProfileSelection {
    /// Number of removed settings of other profiles.
    pub(super) n_removed: usize,
    /// Notes about profiles with settings.
    pub(super) notes: Vec<String>,
}

/// Moves the settings of the selected profile to the top. Removes those of other profiles. `known` are the keys of
/// settings.
pub(super) fn select(config: &mut Value, known: &[&str]) -> ProfileSelection {
    let mut selection = ProfileSelection::default();
    let selected = config["profile"].as_str().map(str::to_owned);
    let Some(Value::Object(mut profiles)) = config.get_mut("profiles").map(Value::take) else {
        return selection;
    };
    for (name, profile) in &mut profiles {
        let Some(settings) = profile.as_object_mut() else {
            continue;
        };
        let found = known.iter().filter(|key| settings.contains_key(**key));
        let found: Vec<&str> = found.copied().collect();
        if found.is_empty() {
            continue;
        }
        let taken: Map<String, Value> =
            found.iter().filter_map(|key| settings.swap_remove_entry(*key)).collect();
        let keys = found.join(", ");
        if selected.as_deref() == Some(name) {
            let note = format!("{keys}: from the profile {name}.");
            selection.notes.push(note);
            config.as_object_mut().into_iter().for_each(|config| {
                config.extend(taken.clone());
            });
        } else {
            selection.n_removed += taken.len();
            selection.notes.push(format!(
                "{keys}: not taken from the profile {name}; `profile = \"{name}\"` selects it."
            ));
        }
    }
    config["profiles"] = Value::Object(profiles);
    if let (Some(_), Some(config)) = (selected, config.as_object_mut()) {
        config.swap_remove("profile");
    }
    selection
}
