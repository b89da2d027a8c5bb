//! An application's own configuration (`execution`, `agents`, `hooks`), as the shipped code reads it.
//!
//! The input is a value from a YAML reader. Placeholders such as `{{env.X}}` are not resolved, since the environment is
//! not read. Settings without effect are reported with the reason.

mod ignored;

use super::hook::{Hook, in_order};
use super::tool_injection::ToolInjection;
use super::turn_state::MAX_TURNS;
use super::window::{backend_window, effective_window};
use crate::json::{Map, Value, json};
use ignored::Reader;

pub use ignored::Ignored;

/// The settings of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// The entry agent: its settings are the ones in effect.
    pub agent_id: String,
    /// Its model.
    pub model: String,
    /// Its context settings.
    pub context: ContextSettings,
    /// The level that they came from.
    pub level: Level,
    /// The window in effect: as configured, else as the backend knows for the model.
    pub max_tokens: u64,
    /// The model that writes summaries, if it is another one.
    pub summary_brain: Option<SummaryBrain>,
    /// All hooks in execution order, including the injected one.
    pub hooks: Vec<Hook>,
    /// Maximum number of turns for one user message.
    pub max_turns: i64,
    /// The forced tool description mode, if any.
    pub tool_injection: Option<ToolInjection>,
    /// Settings without effect.
    pub ignored: Vec<Ignored>,
}

/// The level of an agent's settings. Levels are not merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `agents[].brain.context`, which replaces the other level as a whole.
    Brain,
    /// `execution.context`.
    Execution,
    /// Neither level is set.
    Default,
}

/// A `context` block.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSettings {
    /// The window; 0 asks the backend.
    pub max_tokens: u64,
    /// Tokens reserved for the output.
    pub output_reserved: i64,
    /// `truncate` or `summarize`; any other removes nothing.
    pub strategy: String,
    /// Messages to keep.
    pub keep_recent: i64,
    /// Pressure from which the injected hook compacts, as written.
    pub compression_trigger: Value,
    /// Maximum number of tokens of a summary.
    pub summary_max_tokens: u64,
    /// Whether a hook is injected if no other compacts.
    pub auto_compact: bool,
}

/// Settings passed to the backend of a summary brain.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryBrain {
    /// `_summary_<provider>`.
    pub provider_id: String,
    /// Its settings: backend, model, provider, timeout, and all of `config`.
    pub settings: Map<String, Value>,
}

impl Application {
    /// Reads a whole document.
    pub fn from_json(document: &Value) -> Self {
        let mut reader = Reader::default();
        reader.top(document);
        let execution = &document["execution"];
        let agents: Vec<&Value> = document["agents"].as_array().into_iter().flatten().collect();
        let wanted = execution["entry_agent"].as_str();
        let entry = wanted.and_then(|id| agents.iter().find(|agent| agent["id"] == id));
        let entry = entry.or(agents.first()).map_or(&Value::Null, |agent| *agent);
        let brain = &entry["brain"];
        let (level, block) = match (&brain["context"], &execution["context"]) {
            (Value::Object(block), _) => (Level::Brain, block.clone()),
            (_, Value::Object(block)) => (Level::Execution, block.clone()),
            _ => (Level::Default, Map::new()),
        };
        reader.agents(&agents, entry);
        reader.execution(execution, level);
        let context = ContextSettings::from_json(&block, level.path(), &mut reader);
        let hooks = hooks(document, &agents, &context);
        Self {
            agent_id: text(&entry["id"]),
            model: text(&brain["model"]),
            max_tokens: effective_window(context.max_tokens, window_of(brain)),
            level,
            summary_brain: summary_brain(brain, execution),
            hooks,
            max_turns: execution["max_turns"].as_i64().unwrap_or(MAX_TURNS),
            tool_injection: execution["tool_injection"].as_str().and_then(ToolInjection::named),
            context,
            ignored: reader.ignored,
        }
    }
}

impl Level {
    /// Returns its path, for messages.
    pub fn path(self) -> &'static str {
        match self {
            Self::Brain => "agents[].brain.context",
            Self::Execution | Self::Default => "execution.context",
        }
    }
}

impl ContextSettings {
    fn from_json(block: &Map<String, Value>, path: &str, reader: &mut Reader) -> Self {
        let default = Self::default();
        let mut field = |key: &str, is_right: fn(&Value) -> bool| {
            let value = block.get(key)?;
            if is_right(value) {
                return Some(value);
            }
            reader.ignore(&format!("{path}.{key}"), "its type is wrong");
            None
        };
        let is_count = |value: &Value| value.as_u64().is_some();
        let count = |value: Option<&Value>| value.and_then(Value::as_u64);
        Self {
            max_tokens: count(field("max_tokens", is_count)).unwrap_or(default.max_tokens),
            output_reserved: field("output_reserved", |value| value.as_i64().is_some())
                .and_then(Value::as_i64)
                .unwrap_or(default.output_reserved),
            strategy: field("strategy", Value::is_string).map_or(default.strategy, text),
            keep_recent: field("keep_recent", |value| value.as_i64().is_some())
                .and_then(Value::as_i64)
                .unwrap_or(default.keep_recent),
            compression_trigger: field("compression_trigger", Value::is_number)
                .cloned()
                .unwrap_or(default.compression_trigger),
            summary_max_tokens: count(field("summary_max_tokens", is_count))
                .unwrap_or(default.summary_max_tokens),
            auto_compact: field("auto_compact", Value::is_boolean)
                .and_then(Value::as_bool)
                .unwrap_or(default.auto_compact),
        }
    }
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            max_tokens: 0,
            output_reserved: 4_096,
            strategy: "summarize".to_owned(),
            keep_recent: 10,
            compression_trigger: json!(0.75),
            summary_max_tokens: 1_024,
            auto_compact: true,
        }
    }
}

/// Returns the application's hooks, then its agents', each bound to its agent, then the injected one.
fn hooks(document: &Value, agents: &[&Value], context: &ContextSettings) -> Vec<Hook> {
    let listed = |value: &Value| -> Vec<Hook> {
        let list = value["hooks"].as_array().into_iter().flatten();
        list.map(|hook| Hook::from_json(&with_plain_on(hook))).collect()
    };
    let mut hooks = listed(&document["execution"]);
    for agent in agents {
        hooks.extend(
            listed(agent)
                .into_iter()
                .map(|hook| Hook { agent_id: agent["id"].as_str().map(str::to_owned), ..hook }),
        );
    }
    let auto = context.auto_compact.then(|| {
        Hook::auto_compact(
            &context.compression_trigger,
            &context.strategy,
            context.keep_recent,
            context.summary_max_tokens,
        )
    });
    in_order(hooks, auto)
}

/// Repairs a bare `on`, which is a boolean in older YAML; its key is then `true`.
fn with_plain_on(hook: &Value) -> Value {
    let mut hook = hook.clone();
    if let Some(fields) = hook.as_object_mut()
        && let Some(event) = fields.shift_remove("true")
    {
        fields.entry("on".to_owned()).or_insert(event);
    }
    hook
}

/// Returns the window that the backend of a brain knows for its model.
fn window_of(brain: &Value) -> u64 {
    let backend = brain.get("backend").or(brain.get("provider"));
    let backend = backend.and_then(Value::as_str).unwrap_or_default();
    backend_window(backend, &text(&brain["model"]))
}

/// Returns the entry agent's summary brain, else the application's.
fn summary_brain(brain: &Value, execution: &Value) -> Option<SummaryBrain> {
    let blocks = [&brain["context"], &execution["context"]];
    let mut found = blocks.into_iter().map(|block| &block["summary_brain"]);
    let found = found.find(|brain| brain.is_object())?;
    let provider = found["provider"].as_str().filter(|name| !name.is_empty());
    let mut settings = Map::new();
    for key in ["backend", "model", "timeout"] {
        let value = found.get(key).filter(|value| !value.is_null());
        settings.extend(value.map(|value| (key.to_owned(), value.clone())));
    }
    settings.extend(provider.map(|name| ("provider_hint".to_owned(), json!(name))));
    settings.extend(found["config"].as_object().cloned().unwrap_or_default());
    Some(SummaryBrain {
        provider_id: format!("_summary_{}", provider.unwrap_or("default")),
        settings,
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
