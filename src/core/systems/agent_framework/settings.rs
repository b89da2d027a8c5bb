//! Strategies from the numbers of a preset, and from lists such as `["sliding_window", { keep_last_groups = 4 }]`.

use super::strategy::{Strategy, Truncation};
use super::summarize::Summarization;
use crate::engine::RewriteInput;
use crate::systems::stage_settings::{check_keys, text_setting};
use toml::{Table, Value};

/// The strategies of an agent and when they run.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Before each call.
    pub(super) in_run: Option<Strategy>,
    /// Before a turn, on the loaded history.
    pub(super) before: Option<Strategy>,
    /// After a turn, on the stored history.
    pub(super) after: Option<Strategy>,
    /// Whether excluded messages of the stored history are not loaded.
    pub(super) skip_excluded: bool,
    /// Whether history is stored after each call.
    pub(super) is_harness: bool,
}

/// Strategies that a preset gives as lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    before: Option<Strategy>,
    after: Option<Strategy>,
    /// Strategies within `TokenBudgetComposedStrategy`.
    composed: Vec<Strategy>,
}

/// Names of the strategies in lists, in the order of the choices of the setting `strategy`.
const NAMES: [&str; 7] = [
    "window",
    "truncation",
    "sliding_window",
    "selective_tool_call",
    "tool_result",
    "summarization",
    "token_budget",
];

impl Lists {
    /// Parses the lists of an action.
    pub(super) fn parse(settings: &Table) -> Result<Self, String> {
        check_keys(settings, &["before_strategy", "after_strategy", "strategies"])?;
        let one = |key: &str| settings.get(key).map(parse).transpose();
        Ok(Self {
            before: one("before_strategy")?,
            after: one("after_strategy")?,
            composed: strategies(settings)?,
        })
    }

    /// Returns the strategies for the numbers of a call.
    pub(super) fn plan(&self, input: &RewriteInput<'_>) -> Plan {
        let is_harness = input.flag("is_harness");
        let name = if is_harness { NAMES.first() } else { NAMES.get(input.count("strategy")) };
        let number = |key: &str| Some(input.number(key));
        let in_run = name.map(|name| match make(name, &number) {
            Strategy::TokenBudget { budget, early_stop, .. } => {
                Strategy::TokenBudget { budget, strategies: self.composed.clone(), early_stop }
            }
            other => other,
        });
        Plan {
            after: if is_harness { in_run.clone() } else { self.after.clone() },
            in_run,
            before: self.before.clone(),
            skip_excluded: input.flag("skip_excluded"),
            is_harness,
        }
    }
}

/// Parses a list of a name and possibly arguments.
fn parse(list: &Value) -> Result<Strategy, String> {
    let unknown = || format!("`{list}` must be a list of a strategy's name and its arguments");
    let none = Table::new();
    let (name, arguments) = match list.as_array().map(Vec::as_slice) {
        Some([Value::String(name)]) => (name, &none),
        Some([Value::String(name), Value::Table(arguments)]) => (name, arguments),
        _ => return Err(unknown()),
    };
    let name = NAMES.iter().find(|known| *known == name);
    let name = name.ok_or_else(unknown)?;
    check_keys(arguments, keys(name))?;
    for (key, value) in arguments {
        let is_other = ["strategies", "prompt"].contains(&key.as_str());
        if !is_other && as_number(value).is_none() {
            return Err(format!("`{key}` must be a number, true or false"));
        }
    }
    let mut strategy = make(name, &|key| as_number(arguments.get(key)?));
    match &mut strategy {
        Strategy::TokenBudget { strategies, .. } => *strategies = self::strategies(arguments)?,
        Strategy::Summarization(summarization) => {
            summarization.prompt = text_setting(arguments, "prompt")?.map(str::to_owned);
        }
        _ => {}
    }
    Ok(strategy)
}

/// Parses `strategies`, a list of lists.
fn strategies(table: &Table) -> Result<Vec<Strategy>, String> {
    match table.get("strategies") {
        Some(Value::Array(lists)) => lists.iter().map(parse).collect(),
        Some(_) => Err("`strategies` must be a list of strategies".to_owned()),
        None => Ok(Vec::new()),
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Boolean(flag) => Some(f64::from(u8::from(*flag))),
        _ => None,
    }
}

/// Returns the arguments of a strategy.
fn keys(name: &str) -> &'static [&'static str] {
    match name {
        "truncation" => {
            &["max_n", "compact_to", "tokens", "preserve_system", "preserve_first_user_group"]
        }
        "sliding_window" => &["keep_last_groups", "preserve_system"],
        "selective_tool_call" | "tool_result" => &["keep_last_tool_call_groups"],
        "summarization" => &["target_count", "threshold", "max_summary_input_tokens", "prompt"],
        "token_budget" => &["token_budget", "strategies", "early_stop"],
        _ => &[
            "max_context_window_tokens",
            "max_output_tokens",
            "tool_eviction_threshold",
            "truncation_threshold",
            "keep_last_tool_call_groups",
            "preserve_first_user_group",
        ],
    }
}

/// Makes a strategy; `number` returns an argument or none for the default.
fn make(name: &str, number: &dyn Fn(&str) -> Option<f64>) -> Strategy {
    let or = |key: &str, default: f64| number(key).unwrap_or(default).max(0.0);
    let count = |key: &str, default: usize| or(key, default as f64) as usize;
    let is_set = |key: &str, default: bool| or(key, f64::from(u8::from(default))) != 0.0;
    match name {
        "truncation" => Strategy::Truncation(Truncation {
            most: count("max_n", 0) as u64,
            target: count("compact_to", 0) as u64,
            by_tokens: is_set("tokens", false),
            keep_system: is_set("preserve_system", true),
            keep_first_user: is_set("preserve_first_user_group", false),
        }),
        "sliding_window" => Strategy::SlidingWindow {
            keep: count("keep_last_groups", 1),
            keep_system: is_set("preserve_system", true),
        },
        "selective_tool_call" => {
            Strategy::SelectiveToolCall { keep: count("keep_last_tool_call_groups", 1) }
        }
        "tool_result" => Strategy::ToolResult { keep: count("keep_last_tool_call_groups", 1) },
        "summarization" => Strategy::Summarization(Summarization {
            target: count("target_count", 4),
            threshold: count("threshold", 2),
            max_input: Some(count("max_summary_input_tokens", 8000) as u64).filter(|n| *n > 0),
            prompt: None,
        }),
        "token_budget" => Strategy::TokenBudget {
            budget: count("token_budget", 0) as u64,
            strategies: Vec::new(),
            early_stop: is_set("early_stop", true),
        },
        _ => {
            let (window, output) =
                (or("max_context_window_tokens", 0.0), or("max_output_tokens", 0.0));
            let share = |key: &str, default| ((window - output) * or(key, default)) as u64;
            let eviction = share("tool_eviction_threshold", 0.5);
            Strategy::ContextWindow {
                eviction,
                keep: count("keep_last_tool_call_groups", 4),
                truncation: Truncation {
                    most: share("truncation_threshold", 0.8),
                    target: eviction,
                    by_tokens: true,
                    keep_system: true,
                    keep_first_user: is_set("preserve_first_user_group", false),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(toml: &str) -> String {
        Lists::parse(&toml.parse().unwrap()).unwrap_err()
    }

    #[test]
    fn wrong_values_are_rejected() {
        assert_eq!(
            error("before_strategy = ['sliding_window', { keep_last_groups = '4' }]"),
            "`keep_last_groups` must be a number, true or false"
        );
        assert_eq!(
            error("after_strategy = ['tool_result', { keep_last_groups = 4 }]"),
            "unknown key `keep_last_groups`"
        );
        assert_eq!(error("strategies = 'truncation'"), "`strategies` must be a list of strategies");
        assert!(error("strategies = [['unknown']]").contains("a strategy's name"));
        assert!(error("strategies = [['truncation', 4]]").contains("a strategy's name"));
        assert!(error("before = ['truncation']").contains("unknown key"));
    }

    #[test]
    fn arguments_may_be_omitted() {
        let lists = "before_strategy = ['sliding_window']\nstrategies = [['token_budget', { strategies = [['tool_result', {}]] }]]";
        assert!(Lists::parse(&lists.parse().unwrap()).is_ok());
    }
}
