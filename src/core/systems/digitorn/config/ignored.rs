//! Keys of a configuration that have no effect, each with the reason.

use super::Level;
use crate::json::Value;

/// A key without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Its path.
    pub path: String,
    /// The reason.
    pub why: String,
}

const NO_SUCH_FIELD: &str = "there is no such field";
const NOT_CONTEXT: &str = "it does not affect the context";

const CONTEXT: &[&str] = &[
    "max_tokens",
    "output_reserved",
    "strategy",
    "keep_recent",
    "compression_trigger",
    "summary_max_tokens",
    "auto_compact",
    "summary_brain",
];
const HOOK: &[&str] = &[
    "id",
    "on",
    "true",
    "condition",
    "action",
    "cooldown",
    "max_fires",
    "priority",
    "enabled",
    "tags",
    "agent_id",
];

/// Conditions with their parameters.
const CONDITIONS: &[(&str, &[&str])] = &[
    ("always", &[]),
    ("never", &[]),
    ("context_pressure", &["threshold"]),
    ("turn_count", &["threshold", "every"]),
    ("tool_calls", &["threshold"]),
    ("message_count", &["threshold"]),
    ("all_of", &["conditions"]),
    ("any_of", &["conditions"]),
    ("not", &["condition"]),
];

/// Actions with their parameters.
const ACTIONS: &[(&str, &[&str])] = &[
    (
        "compact_context",
        &[
            "strategy",
            "keep_recent",
            "keep_last",
            "summary_max_tokens",
            "summary_prompt",
            "cooldown_turns",
        ],
    ),
    ("inject_message", &["content", "strategy", "role", "position"]),
    ("log", &["message", "level"]),
    ("module_action", &["name", "module", "action", "params", "action_params"]),
];

/// Collector of keys without effect.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) ignored: Vec<Ignored>,
}

impl Reader {
    pub(super) fn ignore(&mut self, path: &str, why: &str) {
        self.ignored.push(Ignored { path: path.to_owned(), why: why.to_owned() });
    }

    /// Collects keys other than the known ones.
    fn ignore_others(&mut self, value: &Value, path: &str, known: &[&str], why: &str) {
        for key in value.as_object().into_iter().flat_map(|fields| fields.keys()) {
            if !known.contains(&key.as_str()) {
                let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                self.ignore(&at, why);
            }
        }
    }

    pub(super) fn top(&mut self, document: &Value) {
        self.ignore_others(document, "", &["execution", "agents"], NOT_CONTEXT);
    }

    pub(super) fn execution(&mut self, execution: &Value, level: Level) {
        let known = ["context", "hooks", "max_turns", "tool_injection", "entry_agent"];
        self.ignore_others(execution, "execution", &known, NOT_CONTEXT);
        let context = &execution["context"];
        if level == Level::Brain {
            let why = "the agent's brain.context replaces the whole block";
            self.ignore_others(context, "execution.context", &["summary_brain"], why);
        } else {
            self.ignore_others(context, "execution.context", CONTEXT, NO_SUCH_FIELD);
        }
        self.summary_brain(&context["summary_brain"], "execution.context.summary_brain");
        self.hooks(&execution["hooks"], "execution.hooks");
    }

    pub(super) fn agents(&mut self, agents: &[&Value], entry: &Value) {
        for agent in agents {
            let id = agent["id"].as_str().unwrap_or("?");
            let path = format!("agents[{id}]");
            self.ignore_others(agent, &path, &["id", "brain", "hooks"], NOT_CONTEXT);
            let brain = &agent["brain"];
            let used = ["provider", "model", "backend", "context"];
            self.ignore_others(brain, &format!("{path}.brain"), &used, NOT_CONTEXT);
            let context = &brain["context"];
            let at = format!("{path}.brain.context");
            if std::ptr::eq(*agent, entry) {
                self.ignore_others(context, &at, CONTEXT, NO_SUCH_FIELD);
                let at = format!("{at}.summary_brain");
                self.summary_brain(&context["summary_brain"], &at);
            } else {
                let why =
                    "only the entry agent is replayed, and the injected hook takes its numbers";
                self.ignore_others(context, &at, &[], why);
            }
            self.hooks(&agent["hooks"], &format!("{path}.hooks"));
        }
    }

    fn summary_brain(&mut self, brain: &Value, path: &str) {
        let forwarded = ["provider", "backend", "model", "timeout", "config"];
        let why = "only provider, backend, model, timeout and config are passed on";
        self.ignore_others(brain, path, &forwarded, why);
    }

    fn hooks(&mut self, hooks: &Value, path: &str) {
        for hook in hooks.as_array().into_iter().flatten() {
            let path = format!("{path}[{}]", hook["id"].as_str().unwrap_or("?"));
            self.ignore_others(hook, &path, HOOK, NO_SUCH_FIELD);
            self.rule(&hook["condition"], &format!("{path}.condition"), CONDITIONS, "condition");
            self.rule(&hook["action"], &format!("{path}.action"), ACTIONS, "action");
        }
    }

    /// Checks a condition or an action and its parameters.
    fn rule(&mut self, rule: &Value, path: &str, known: &[(&str, &[&str])], what: &str) {
        let Some(kind) = rule["type"].as_str() else {
            return;
        };
        let Some((_, params)) = known.iter().find(|(name, _)| *name == kind) else {
            let why = format!("there is no such {what}: the hook never fires");
            self.ignore(&format!("{path}.type = {kind}"), &why);
            return;
        };
        let known: Vec<&str> = params.iter().copied().chain(["type"]).collect();
        self.ignore_others(rule, path, &known, reason(kind, rule));
    }
}

/// Returns the reason why other parameters have no effect.
fn reason(kind: &str, rule: &Value) -> &'static str {
    match kind {
        "turn_count" if rule.get("threshold").is_none() => {
            "the parameter is named threshold; without it the hook fires from turn 10 on"
        }
        "inject_message" if rule.get("content").is_none() => {
            "the parameter is named content; without it nothing is injected, and the hook counts as fired"
        }
        "compact_context" => "it is read and never used, or not read at all",
        _ => NO_SUCH_FIELD,
    }
}
