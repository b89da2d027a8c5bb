//! Notation of each system's cases: texts of configurations, names of mechanisms, and texts that depend on the machine.

use plimsoll::engine::ActionKind;
use plimsoll::json::{Map, Value, json};

/// A text of a configuration that stages take.
pub(crate) struct StageText {
    /// Actions of the stages.
    pub(crate) actions: &'static [&'static str],
    /// Key of the stages.
    pub(crate) key: &'static str,
    /// Key of the configuration.
    pub(crate) config_key: &'static str,
}

/// Texts of configurations.
pub(crate) const STAGE_TEXTS: [StageText; 10] = [
    StageText {
        actions: &["agent_framework.compact"],
        key: "strategies",
        config_key: "strategies",
    },
    StageText {
        actions: &["agent_framework.compact"],
        key: "before_strategy",
        config_key: "before_strategy",
    },
    StageText {
        actions: &["agent_framework.compact"],
        key: "after_strategy",
        config_key: "after_strategy",
    },
    StageText { actions: &["ai_sdk.prune"], key: "rules", config_key: "pruneMessages.toolCalls" },
    StageText { actions: &["langchain.clear"], key: "exclude_tools", config_key: "exclude_tools" },
    StageText { actions: &["langchain.clear"], key: "placeholder", config_key: "placeholder" },
    StageText {
        actions: &["openai_agents.compact", "openai_agents.trim"],
        key: "trimmable_tools",
        config_key: "ToolOutputTrimmer.trimmable_tools",
    },
    StageText {
        actions: &["roo_code.condense"],
        key: "environment",
        config_key: "environmentDetails",
    },
    StageText {
        actions: &["deepagents.cut_arguments", "deepagents.summarize", "deepagents.clip"],
        key: "truncation_text",
        config_key: "truncate_args_settings.truncation_text",
    },
    StageText {
        actions: &["swe_agent.remove_regex"],
        key: "remove",
        config_key: "remove_regex.remove",
    },
];

/// Keys of presets that cases name otherwise.
pub(crate) const RENAMED_KEYS: [(&str, &str); 4] = [
    ("create_harness_agent={…}", "harness"),
    ("OpenAIResponsesCompactionSession={…}", "compaction={…}"),
    ("OpenAIResponsesCompactionSession.should_trigger_compaction", "compaction.threshold"),
    ("OpenAIResponsesCompactionSession.compaction_mode", "compaction.compaction_mode"),
];

/// Settings that a configuration does not have: the stub of Cline's cases names model and provider `stub`.
pub(crate) const STUB_VALUES: [(&str, f64); 1] = [("model_chars", 8.0)];

/// Returns the keys that a preset names and a system's configuration has in another form. Of several edits, the first
/// counts.
pub(crate) fn additional_keys(system: &str, config: &Value) -> Map<String, Value> {
    match system {
        "agent-framework" => strategy(config),
        "langchain" => config["edits"][0].as_object().cloned().unwrap_or_default(),
        // `True` is the default.
        "strands" if config["proactive_compression"] == true => {
            let default = json!({"compression_threshold": 0.7});
            Map::from_iter([("proactive_compression".to_owned(), default)])
        }
        _ => Map::new(),
    }
}

/// Returns the strategy of an agent of Microsoft Agent Framework in the form that the preset names: its class, and its
/// arguments.
fn strategy(config: &Value) -> Map<String, Value> {
    let harness = config["harness"].as_object();
    let (name, arguments) = (&config["compaction_strategy"][0], &config["compaction_strategy"][1]);
    let mut flat = arguments.as_object().or(harness).cloned().unwrap_or_default();
    let class = strategy_class(name.as_str().unwrap_or_default());
    let counts_tokens = arguments.get("tokens").is_some_and(|tokens| *tokens == true);
    let keep = flat.get("keep_last_tool_call_groups").cloned();
    let has_no_limit = flat.get("max_summary_input_tokens") == Some(&Value::Null);
    flat.insert("harness".to_owned(), harness.is_some().into());
    if harness.is_none() {
        flat.insert("compaction_strategy".to_owned(), class.into());
    }
    if class.starts_with("Truncation") {
        flat.insert("tokenizer".to_owned(), counts_tokens.into());
    }
    if class.starts_with("ContextWindow") {
        let key = "ContextWindowCompactionStrategy.keep_last_tool_call_groups".to_owned();
        flat.extend(keep.map(|keep| (key, keep)));
    }
    if has_no_limit {
        flat.insert("max_summary_input_tokens".to_owned(), 0.into());
    }
    for nested in flat.get_mut("strategies").and_then(Value::as_array_mut).into_iter().flatten() {
        // Some cases shorten the names of the preset.
        let name = match nested[0].as_str() {
            Some("sliding") => "sliding_window",
            Some("selective") => "selective_tool_call",
            _ => continue,
        };
        nested[0] = name.into();
    }
    flat
}

/// Returns the class of a strategy by the name that cases have for it.
fn strategy_class(name: &str) -> &'static str {
    match name {
        "" => "none",
        "window" => "ContextWindowCompactionStrategy",
        "truncation" => "TruncationStrategy",
        "tool_result" => "ToolResultCompactionStrategy",
        "summarization" => "SummarizationStrategy",
        name if name.contains("sliding") => "SlidingWindowStrategy",
        name if name.contains("selective") => "SelectiveToolCallCompactionStrategy",
        _ => "TokenBudgetComposedStrategy",
    }
}

/// Mechanisms that cases name by a class: system, stage, kind of the action and name.
const CLASSES: [(&str, &str, ActionKind, &str); 2] = [
    ("langchain", "clear", ActionKind::Clear, "ClearToolUsesEdit"),
    ("langchain", "summarize", ActionKind::Summarize, "SummarizationMiddleware"),
];

/// Returns the class by which the cases of a system name the mechanism of a stage, if they do.
pub(crate) fn class_of(system: &str, stage: &str, kind: ActionKind) -> Option<&'static str> {
    let of_stage =
        |row: &&(&str, &str, ActionKind, &str)| (row.0, row.1, row.2) == (system, stage, kind);
    CLASSES.iter().find(of_stage).map(|row| row.3)
}

/// Names of refusals in cases.
pub(crate) const REFUSALS: [&str; 2] = ["ContextOverflowError", "ContextWindowOverflowException"];

/// Phrases before the path of a file that a system wrote.
pub(crate) const BEFORE_PATHS: [&str; 4] = [
    "Full output saved to: ",
    "For full output see: ",
    "Full output available at: ",
    "full content saved to ",
];

/// Text before the random names of files.
pub(crate) const BEFORE_IDS: &str = " /conversation_history/";
