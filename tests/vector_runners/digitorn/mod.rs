//! Cases of Digitorn.

mod agent_loop;
mod agent_loop_case;
mod go_rewrite;
mod hooks;
mod request;
mod snip;

use super::{
    Answer, Case, NotCovered, messages_from_json, messages_to_json, no_stage, texts, unstated,
};
use plimsoll::json::{Map, Value, json};
use plimsoll::languages::python::PythonError;
use plimsoll::systems::digitorn::compact::Surroundings;
use plimsoll::systems::digitorn::estimate::{hook_tokens, log_tokens};
use plimsoll::systems::digitorn::reminder::ReminderInputs;
use plimsoll::systems::digitorn::tool_index::{Category, IndexedTool, ToolIndex};
use plimsoll::systems::digitorn::tool_injection::ToolInjection;
use plimsoll::systems::digitorn::turn_state::{NEVER_COMPACTED, TurnState};
use plimsoll::systems::digitorn::{emergency, safe_split, window};

/// Runs one case.
pub(super) fn run(case: &Case) -> Answer {
    check_stated_index(case)?;
    let variant = case.whole["variant"].as_str().unwrap_or_default();
    let fields = match (variant, case.stage.as_str()) {
        ("python", "auto_compact") => hooks::auto_compact(case),
        ("python", "hooks") => hooks::hooks(case),
        ("python", "replay") => agent_loop_case::run_agent_loop(case),
        ("python", "emergency") => emergency(case),
        ("python", "estimate") => estimate(case),
        ("python", "safe_split") => by_keep_recent(case),
        ("python", "truncate_oversized") => truncate_oversized(case),
        ("python", "snip") => snip(case),
        ("python", "context_window") => context_window(case),
        ("python", "overflow_detect") => overflow_detect(case),
        ("python", "tool_injection") => request::tool_injection(case),
        ("python", "tool_result") => request::tool_result(case),
        ("python", "to_chat_messages") => request::to_chat_messages(case),
        ("go-rewrite", "compact") => go_rewrite::compact(case),
        ("go-rewrite", "microcompact") => go_rewrite::microcompact(case),
        ("go-rewrite", "emergency") => go_rewrite::emergency(case),
        _ => return Err(no_stage(case)),
    };
    Ok(fields.as_object().cloned().unwrap_or_default())
}

/// Checks that a case contains the skills and sub-agents that its expected reminder names.
fn check_stated_index(case: &Case) -> Result<(), NotCovered> {
    let index = &case.config["context_builder"];
    let is_unexplained = |marker: &str| {
        let is_in = |value: &Value| texts(value).iter().any(|text| text.contains(marker));
        is_in(&case.expected) && !is_in(&case.input)
    };
    if is_unexplained("Available skills: ") && !index["skills"].is_array() {
        return Err(unstated("the list of skills"));
    }
    if is_unexplained("Sub-agents available:") && !index["specialists"].is_object() {
        return Err(unstated("the list of sub-agents"));
    }
    Ok(())
}

fn number(config: &Value, key: &str, default: i64) -> i64 {
    config[key].as_i64().unwrap_or(default)
}

/// Returns a value, or the exception raised instead.
fn or_error(result: Result<impl Into<Value>, PythonError>) -> Value {
    result.map_or_else(|error| json!({"error": error.to_string()}), Into::into)
}

/// Tools and resources of a case.
struct Setting {
    index: Option<ToolIndex>,
    setup_summary: Vec<String>,
    memory: String,
    mode: ToolInjection,
    has_provider: bool,
}

impl Setting {
    fn new(config: &Value) -> Self {
        let index = Some(&config["context_builder"]).filter(|index| index.is_object());
        let lines = config["setup_summary"].as_array().into_iter().flatten();
        let mode = config["tool_injection"].as_str();
        Self {
            index: index.map(tool_index),
            setup_summary: lines.map(|l| l.as_str().unwrap_or_default().to_owned()).collect(),
            memory: config["memory"].as_str().unwrap_or_default().to_owned(),
            mode: mode.and_then(ToolInjection::named).unwrap_or(ToolInjection::Discovery),
            has_provider: config["summary_llm"] != "none" || config["summary_brain"] == true,
        }
    }

    fn reminder_inputs(&self) -> ReminderInputs<'_> {
        ReminderInputs {
            tools: self.index.as_ref(),
            setup_summary: &self.setup_summary,
            memory: &self.memory,
        }
    }

    fn around(&self) -> Surroundings<'_> {
        Surroundings {
            has_provider: self.has_provider,
            reminder: self.reminder_inputs(),
            ..Surroundings::default()
        }
    }
}

/// Parses `{categories: [{module_id, tool_names}], tools: [{fqn, description, examples}], specialists: {id: purpose},
/// skills: [..]}`.
fn tool_index(value: &Value) -> ToolIndex {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let texts = |value: &Value| items(value).iter().map(text).collect();
    let category = |value: &Value| Category {
        module_id: text(&value["module_id"]),
        tool_names: texts(&value["tool_names"]),
    };
    let tool = |value: &Value| IndexedTool {
        fqn: text(&value["fqn"]),
        description: text(&value["description"]),
        examples: items(&value["examples"]),
    };
    let specialists = value["specialists"].as_object().into_iter().flatten();
    ToolIndex {
        categories: items(&value["categories"]).iter().map(category).collect(),
        tools: items(&value["tools"]).iter().map(tool).collect(),
        specialists: specialists.map(|(id, purpose)| (id.clone(), text(purpose))).collect(),
        skills: texts(&value["skills"]),
    }
}

fn emergency(case: &Case) -> Value {
    let config = &case.config;
    let setting = Setting::new(config);
    let input = messages_from_json(&case.input["messages"]);
    let before = or_error(log_tokens(&input));
    let max_tokens = number(config, "max_tokens", 128_000);
    let keep = number(config, "keep_recent", 10);
    let done = emergency::emergency_compact(
        input,
        max_tokens,
        keep,
        setting.mode,
        setting.reminder_inputs(),
    );
    match done {
        Ok(done) => json!({
            "messages": messages_to_json(&done.messages),
            "tokens_before": before,
            "tokens_after": or_error(log_tokens(&done.messages)),
            "last_compact_turn_after": number(config, "last_compact_turn", NEVER_COMPACTED),
        }),
        Err(error) => json!({"error": error.to_string()}),
    }
}

fn estimate(case: &Case) -> Value {
    let input = messages_from_json(&case.input["messages"]);
    let reserved = number(&case.config, "output_reserved", 4_096);
    let max_tokens = number(&case.config, "max_tokens", 128_000);
    let mut state = TurnState::new(input.clone(), max_tokens, reserved);
    json!({
        "turnstate_estimated_tokens": or_error(hook_tokens(&input)),
        "effective_max_tokens": state.effective_max_tokens(),
        "token_pressure": or_error(state.token_pressure()),
        "compaction_estimate_tokens": or_error(log_tokens(&input)),
    })
}

fn by_keep_recent(case: &Case) -> Value {
    let mut conversation = messages_from_json(&case.input["messages"]);
    if conversation.first().is_some_and(|m| m.is("system")) {
        conversation.remove(0);
    }
    let split = |keep: i64| {
        let safe = safe_split::safe_keep(&conversation, keep);
        let split =
            safe.map(|kept| json!({"safe_keep": kept, "compacted": conversation.len() - kept}));
        (keep.to_string(), or_error(split))
    };
    let last = i64::try_from(conversation.len() + 1).unwrap_or(0);
    let splits: Map<String, Value> = (0..=last).map(split).collect();
    json!({"by_keep_recent": splits})
}

fn truncate_oversized(case: &Case) -> Value {
    let input = messages_from_json(&case.input["messages"]);
    let before = or_error(log_tokens(&input));
    let max_tokens = number(&case.config, "max_tokens", 128_000);
    let done = emergency::truncate_oversized(input, max_tokens);
    json!({
        "messages": messages_to_json(&done),
        "tokens_before": before,
        "tokens_after": or_error(log_tokens(&done)),
    })
}

fn snip(case: &Case) -> Value {
    let mut input = messages_from_json(&case.input["messages"]);
    let threshold = number(&case.config, "threshold_chars", snip::THRESHOLD);
    match snip::snip_oversized(&mut input, threshold) {
        Ok(snipped) => json!({"messages": messages_to_json(&input), "snipped": snipped}),
        Err(error) => json!({"error": error.to_string()}),
    }
}

fn context_window(case: &Case) -> Value {
    let models = case.input["models"].as_array().into_iter().flatten();
    let configured = case.config["max_tokens"].as_u64().unwrap_or(0);
    let backend = ["backend", "provider"].map(|key| case.config[key].as_str());
    let backend = backend.into_iter().flatten().next().unwrap_or_default();
    let (mut known, mut effective) = (Map::new(), Map::new());
    for model in models.filter_map(Value::as_str) {
        let window = window::backend_window(backend, model);
        known.insert(model.to_owned(), json!(window));
        let window = window::effective_window(configured, window);
        effective.insert(model.to_owned(), json!(window));
    }
    json!({"window": known, "effective_max_tokens_cfg": effective})
}

fn overflow_detect(case: &Case) -> Value {
    let errors = case.input["errors"].as_array().into_iter().flatten();
    let verdicts = errors.filter_map(Value::as_str).map(|error| {
        let is_overflow = emergency::is_context_overflow(error);
        (error.to_owned(), json!(is_overflow))
    });
    json!({"is_overflow": verdicts.collect::<Map<_, _>>()})
}
