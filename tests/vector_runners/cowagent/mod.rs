//! Cases of `CowAgent`.

mod agent_run;
mod convert;
mod run_case;
mod trim;

use super::{Answer, Case, messages_from_json, messages_to_json, no_stage, object, unstated};
use plimsoll::chat::ChatMessage;
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::cowagent::{
    Ends, HISTORY_RESULT_CHARS, Recovery, compress_turn, cut_history, cut_reasoning,
    message_tokens, messages_tokens, restore, sanitize, trim_for_overflow, trim_to_turns,
};

/// Runs one case.
pub(super) fn run(case: &Case) -> Answer {
    let given = messages_from_json(&case.input["messages"]);
    Ok(match case.stage.as_str() {
        "compress" => object([("messages", messages_to_json(&compress_turn(&given)))]),
        "convert" => object([("openai_messages", json!(convert::to_openai(given_json(case))))]),
        "emergency" => emergency(given),
        "estimate" => estimate(&given),
        "restore" => restored(case, &given),
        "run" => run_case::run(case, given),
        "sanitize" => sanitized(given),
        "scheduler_trim" => {
            let mut messages = given;
            trim_to_turns(&mut messages, count(&case.config["keep_turns"]));
            object([("messages", messages_to_json(&messages))])
        }
        "trim" => {
            trim::check_stated_summary(case)?;
            trim::run(case, given)
        }
        "truncate_history" => truncated(case, given),
        "truncate_reasoning" => {
            let text = case.input["text"].as_str().unwrap_or_default();
            let text = cut_reasoning(text, count(&case.config["limit"]));
            object([("text", json!(text))])
        }
        _ => return Err(no_stage(case)),
    })
}

fn given_json(case: &Case) -> &[Value] {
    case.input["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn emergency(mut messages: Vec<ChatMessage>) -> Map<String, Value> {
    let before = messages_tokens(&messages);
    let mut log = Vec::new();
    let returned = trim_for_overflow(&mut messages, Recovery::SHIPPED, &mut log);
    object([
        ("returned", json!(returned)),
        ("messages", messages_to_json(&messages)),
        ("tokens_before", json!(before)),
        ("tokens_after", json!(messages_tokens(&messages))),
        ("log", json!(log)),
    ])
}

fn estimate(messages: &[ChatMessage]) -> Map<String, Value> {
    let each: Vec<u64> = messages.iter().map(message_tokens).collect();
    object([("per_message", json!(each)), ("total", json!(messages_tokens(messages)))])
}

fn restored(case: &Case, stored: &[ChatMessage]) -> Map<String, Value> {
    let cleared = count(&case.config["clear_context_after_n"]);
    let max_turns = count(&case.config["agent_max_context_turns"]);
    let session = case.config["session_id"].as_str().unwrap_or_default();
    let restored = restore(stored, cleared, max_turns, session);
    object([
        ("messages", messages_to_json(&restored.messages)),
        ("restore_turns", json!(restored.n_turns)),
        ("loaded_raw_count", json!(restored.n_loaded)),
    ])
}

fn sanitized(mut messages: Vec<ChatMessage>) -> Map<String, Value> {
    let mut log = Vec::new();
    let returned = sanitize(&mut messages, &mut log);
    object([
        ("messages", messages_to_json(&messages)),
        ("returned", json!(returned)),
        ("log", json!(log)),
    ])
}

fn truncated(case: &Case, mut messages: Vec<ChatMessage>) -> Map<String, Value> {
    let before = messages_tokens(&messages);
    let passes = case.config["passes"].as_u64().unwrap_or(1);
    let listed = case.expected["tails_after_each_pass"].as_array();
    let tails: Vec<Value> = (0..passes as usize)
        .map(|pass| {
            cut_history(&mut messages, HISTORY_RESULT_CHARS, Ends::Head, &mut Vec::new());
            tails(&messages, listed.and_then(|passes| passes.get(pass)))
        })
        .collect();
    object([
        ("messages", messages_to_json(&messages)),
        ("tails_after_each_pass", json!(tails)),
        ("tokens_before", json!(before)),
        ("tokens_after", json!(messages_tokens(&messages))),
    ])
}

/// Returns the ends of results that a case lists. A case lists some of them, without their positions.
fn tails(messages: &[ChatMessage], listed: Option<&Value>) -> Value {
    let whole = messages_to_json(messages);
    let blocks = whole.as_array().into_iter().flatten();
    let blocks = blocks.filter_map(|m| m["content"].as_array()).flatten();
    let results = blocks.filter(|b| b["type"] == "tool_result");
    let listed = listed.and_then(Value::as_array);
    results
        .filter_map(|b| b["content"].as_str())
        .map(tail)
        .filter(|tail| listed.is_some_and(|listed| listed.contains(tail)))
        .collect()
}

fn tail(text: &str) -> Value {
    let length = text.chars().count();
    text.chars().skip(length.saturating_sub(90)).collect::<String>().into()
}

/// Returns a count; 0 if it is missing or `null`.
fn count(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}
