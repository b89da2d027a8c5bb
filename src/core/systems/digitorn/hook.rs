//! A hook: on an event, if a condition is true, run an action. Definitions, states and events are data.

use crate::json::{Map, Value, json};
use crate::languages::python::as_number;

/// Events with a second name.
const ALIASES: &[(&str, &str)] =
    &[("pre_tool_use", "tool_start"), ("post_tool_use", "tool_end"), ("user_prompt", "turn_start")];

/// Priority of a hook that sets none.
// The numbers of this file are those of mbathe/digitorn-bridge @8d8eb4a6, `runtime/hooks.py` and `bootstrap.py`.
const PRIORITY: f64 = 100.0;

/// Cooldown of the injected hook in seconds.
const AUTO_COOLDOWN: f64 = 30.0;

/// A hook's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// Its id.
    pub id: String,
    /// The event.
    pub on: String,
    /// Its condition.
    pub condition: Rule,
    /// Its action.
    pub action: Rule,
    /// Seconds between two runs.
    pub cooldown: f64,
    /// Total number of runs; 0 means no limit.
    pub max_fires: u64,
    /// Lower values act earlier; equal ones in the order written.
    pub priority: f64,
    /// Whether it is enabled.
    pub enabled: bool,
    /// The only agent it acts for.
    pub agent_id: Option<String>,
}

/// A condition or an action: its type and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its type.
    pub kind: String,
    /// Its parameters.
    pub params: Map<String, Value>,
}

/// The stored state of a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HookState {
    /// The clock at the last run; 0, the machine's start, before that.
    pub last_fired: f64,
    /// Number of runs.
    pub fire_count: u64,
}

impl Hook {
    /// Reads a definition; missing keys have their defaults.
    pub fn from_json(value: &Value) -> Self {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let amount = |key: &str, default| as_number(&value[key]).unwrap_or(default);
        Self {
            id: text("id").unwrap_or_default(),
            on: text("on").unwrap_or_else(|| "turn_end".to_owned()),
            condition: Rule::from_json(&value["condition"], "always"),
            action: Rule::from_json(&value["action"], "inject_message"),
            cooldown: amount("cooldown", 0.0),
            max_fires: amount("max_fires", 0.0).max(0.0) as u64,
            priority: amount("priority", PRIORITY),
            enabled: value["enabled"].as_bool().unwrap_or(true),
            agent_id: text("agent_id"),
        }
    }

    /// Makes the hook that is injected if no other compacts.
    pub fn auto_compact(
        trigger: &Value,
        strategy: &str,
        keep_recent: i64,
        summary_max_tokens: u64,
    ) -> Self {
        Self::from_json(&json!({
            "id": "_auto_compact",
            "on": "turn_start",
            "condition": {"type": "context_pressure", "threshold": trigger},
            "action": {
                "type": "compact_context",
                "strategy": strategy,
                "keep_recent": keep_recent,
                "summary_max_tokens": summary_max_tokens,
            },
            "cooldown": AUTO_COOLDOWN,
        }))
    }

    /// Returns whether it is bound to an event, by either name.
    pub(super) fn is_on(&self, event: &str) -> bool {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == self.on);
        self.on == event || alias.is_some_and(|(_, canonical)| *canonical == event)
    }
}

impl Rule {
    /// Reads `{type, ..params}`.
    fn from_json(value: &Value, default: &str) -> Self {
        let mut params = value.as_object().cloned().unwrap_or_default();
        let kind = params.shift_remove("type");
        Self { kind: kind.as_ref().and_then(Value::as_str).unwrap_or(default).to_owned(), params }
    }
}

/// An event that a hook emits while it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// The hook.
    pub hook_id: String,
    /// Type of its action.
    pub action_type: String,
    /// `start`, `end`, `error` or `update`.
    pub phase: &'static str,
    /// Further fields.
    pub details: Map<String, Value>,
}

impl HookEvent {
    /// Returns the event as it is sent.
    pub fn to_json(&self) -> Value {
        json!({
            "hook_id": self.hook_id,
            "action_type": self.action_type,
            "phase": self.phase,
            "details": self.details,
        })
    }
}

/// Returns all hooks in execution order: the application's, its agents', and the injected one if there is one.
pub fn in_order(mut hooks: Vec<Hook>, auto: Option<Hook>) -> Vec<Hook> {
    let compacts = |hook: &Hook| hook.action.kind == "compact_context";
    // Any hook that compacts is enough, including another agent's and a disabled one.
    if !hooks.iter().any(compacts) {
        hooks.extend(auto);
    }
    hooks.sort_by(|a, b| a.priority.total_cmp(&b.priority));
    hooks
}
