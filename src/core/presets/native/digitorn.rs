//! A whole Digitorn application: its settings as knobs and its own hooks as the policy's.

use super::Imported;
use crate::engine::Policy;
use crate::json::Value;
use crate::presets::{self, own};
use crate::systems::digitorn::config::Application;

/// The action that runs hooks.
const HOOKS: &str = "digitorn.hooks";

/// Imports a document of Digitorn's. Returns a whole policy if it has its own hooks.
pub(super) fn imported(document: &Value) -> Option<Imported> {
    let is_one = document["agents"].is_array() || document["execution"].is_object();
    let mut policy = is_one.then(|| presets::by_name("digitorn")).flatten()?;
    let app = Application::from_json(document);
    let context = &app.context;
    let flag = |on: bool| f64::from(u8::from(on));
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let wanted = [
        // The window of the agent's own model, if it names one, regardless of the recorded model.
        (
            "max_tokens",
            if app.model.is_empty() { context.max_tokens } else { app.max_tokens } as f64,
        ),
        ("output_reserve", context.output_reserved as f64),
        ("strategy", flag(context.strategy == "summarize")),
        ("keep_recent", context.keep_recent as f64),
        ("compression_trigger", number(&context.compression_trigger)),
        ("summary_max_tokens", context.summary_max_tokens as f64),
        ("auto_compact", flag(context.auto_compact)),
        ("summary_brain", flag(app.summary_brain.is_some())),
        ("max_turns", app.max_turns as f64),
        ("tool_injection", tool_injection(&policy, document)),
    ];
    let mut imported = Imported::new(policy.clone());
    for (knob, value) in wanted {
        match policy.set(&mut imported.knobs, knob, value) {
            Ok(()) => imported.set.push(knob.to_owned()),
            Err(why) => imported.notes.push(format!("{why}; using the default.")),
        }
    }
    if !["truncate", "summarize"].contains(&&*context.strategy) {
        imported.notes.push(format!(
            "strategy {:?}: the shipped code removes nothing with it; imported as truncate.",
            context.strategy
        ));
    }
    if !app.model.is_empty() {
        imported.notes.push(format!(
            "Agent {} with {}: a window of {} tokens; its settings are those of {}.",
            app.agent_id,
            app.model,
            app.max_tokens,
            app.level.path()
        ));
    }
    let ignored = app.ignored.iter();
    imported.notes.extend(ignored.map(|i| format!("{} has no effect: {}.", i.path, i.why)));
    let hooks = own_hooks(document);
    if !hooks.is_empty() {
        imported.toml = with_hooks(&imported, &hooks, &app.agent_id);
        policy = presets::parse(imported.toml.as_deref()?).ok()?;
        imported.policy = policy;
    }
    Some(imported)
}

/// Returns the position of the mode in which tools are described, 0 for the default.
fn tool_injection(policy: &Policy, document: &Value) -> f64 {
    let mode = document["execution"]["tool_injection"].as_str();
    let knob = policy.knob("tool_injection");
    let choices = knob.map_or(&[][..], |knob| &knob.choices);
    let at = choices.iter().position(|choice| Some(&**choice) == mode);
    at.unwrap_or(0) as f64
}

/// Returns the hooks as written, with agents' hooks bound to them.
fn own_hooks(document: &Value) -> Vec<Value> {
    let listed = |of: &Value| of["hooks"].as_array().cloned().unwrap_or_default();
    let mut hooks = listed(&document["execution"]);
    for agent in document["agents"].as_array().into_iter().flatten() {
        for mut hook in listed(agent) {
            hook["agent_id"] = agent["id"].clone();
            hooks.push(hook);
        }
    }
    hooks
}

/// Converts a value to TOML, which has no `null`.
fn toml_of(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().filter_map(toml_of).collect::<Vec<_>>().into(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.filter_map(|(key, value)| Some((key.clone(), toml_of(value)?)));
            toml::Value::Table(fields.collect())
        }
    })
}

/// Returns the preset with these values and hooks as a policy file.
fn with_hooks(imported: &Imported, hooks: &[Value], agent: &str) -> Option<String> {
    let preset = presets::PRESETS.iter().find(|p| p.name == "digitorn")?;
    let mut table: toml::Table = toml::from_str(preset.toml).ok()?;
    own::change_values(&mut table, &imported.knobs);
    let hooks = toml::Value::Array(hooks.iter().filter_map(toml_of).collect());
    for stage in table.get_mut("stage")?.as_array_mut()? {
        let action = stage.get_mut("do")?.as_table_mut()?;
        if action.get("named").and_then(toml::Value::as_str) == Some(HOOKS) {
            action.insert("hooks".to_owned(), hooks.clone());
            action.insert("agent".to_owned(), agent.into());
            // Hooks have their own conditions.
            stage.as_table_mut()?.insert("when".to_owned(), "true".into());
        }
    }
    toml::to_string(&table).ok()
}
