//! A hook: on an event, if a condition holds, do an action. Definitions are data, and so is what they remember.

use super::fault::number;
use serde_json::{Map, Value, json};

/// Events that have a second name.
const ALIASES: &[(&str, &str)] = &[
    ("pre_tool_use", "tool_start"),
    ("post_tool_use", "tool_end"),
    ("user_prompt", "turn_start"),
];

/// Rank of a hook that names none.
const PRIORITY: f64 = 100.0;

/// Seconds that the injected hook rests.
const AUTO_COOLDOWN: f64 = 30.0;

/// A hook's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// Its id.
    pub id: String,
    /// The event.
    pub on: String,
    /// When it acts.
    pub condition: Rule,
    /// What it does.
    pub action: Rule,
    /// Seconds between two firings.
    pub cooldown: f64,
    /// Firings in all; 0 means without limit.
    pub max_fires: u64,
    /// Lower acts earlier; equal ones in the order they are written.
    pub priority: f64,
    /// Whether it acts at all.
    pub enabled: bool,
    /// The only agent it acts for.
    pub agent_id: Option<String>,
}

/// A condition or an action: its type and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Which one.
    pub kind: String,
    /// Its parameters.
    pub params: Map<String, Value>,
}

/// What is remembered of a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HookState {
    /// The clock when it fired last; 0, the machine's start, before that.
    pub last_fired: f64,
    /// How often it fired.
    pub fire_count: u64,
}

impl Hook {
    /// Reads a definition; what is not given has its default.
    pub fn from_json(value: &Value) -> Self {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let amount = |key: &str, default| number(&value[key]).unwrap_or(default);
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

    /// The hook that is injected where none compacts.
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

    /// Whether it is bound to an event, by either name.
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
        Self {
            kind: kind
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or(default)
                .to_owned(),
            params,
        }
    }
}

/// All hooks in the order they act: the application's, its agents', and the injected one if there is one.
pub fn in_order(mut hooks: Vec<Hook>, auto: Option<Hook>) -> Vec<Hook> {
    let compacts = |hook: &Hook| hook.action.kind == "compact_context";
    // Any hook that compacts is enough, another agent's and a disabled one too.
    if !hooks.iter().any(compacts) {
        hooks.extend(auto);
    }
    hooks.sort_by(|a, b| a.priority.total_cmp(&b.priority));
    hooks
}
