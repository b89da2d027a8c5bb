//! Cases of the system `cowagent`.

mod run;
mod trim;

use super::{Answer, Case, NotCovered, unstated};
use plimsoll::chat::{ChatMessage, message_from_json, message_to_json};
use plimsoll::systems::cowagent::{
    Ends, HISTORY_RESULT_CHARS, Recovery, compress_turn, cut_history, cut_reasoning,
    message_tokens, messages_tokens, restore, sanitize, to_openai, trim_for_overflow,
    trim_to_turns,
};
use serde_json::{Map, Value, json};

/// Runs one case.
pub(super) fn run(case: &Case) -> Answer {
    let given = messages(&case.input["messages"]);
    Ok(match case.stage.as_str() {
        "compress" => fields([("messages", as_json(&compress_turn(&given)))]),
        "convert" => fields([("openai_messages", as_json(&to_openai(&given)))]),
        "emergency" => emergency(given),
        "estimate" => estimate(&given),
        "restore" => restored(case, &given),
        "run" => run::run(case, given),
        "sanitize" => sanitized(given),
        "scheduler_trim" => {
            let mut messages = given;
            trim_to_turns(&mut messages, count(&case.config["keep_turns"]));
            fields([("messages", as_json(&messages))])
        }
        "trim" => {
            trim::states_its_stub(case)?;
            trim::run(case, given)
        }
        "truncate_history" => truncated(case, given),
        "truncate_reasoning" => {
            let text = case.input["text"].as_str().unwrap_or_default();
            let text = cut_reasoning(text, count(&case.config["limit"]));
            fields([("text", json!(text))])
        }
        other => return Err(NotCovered(format!("no stage named {other:?}"))),
    })
}

fn emergency(mut messages: Vec<ChatMessage>) -> Map<String, Value> {
    let before = messages_tokens(&messages);
    let mut log = Vec::new();
    let returned = trim_for_overflow(&mut messages, Recovery::SHIPPED, &mut log);
    fields([
        ("returned", json!(returned)),
        ("messages", as_json(&messages)),
        ("tokens_before", json!(before)),
        ("tokens_after", json!(messages_tokens(&messages))),
        ("log", json!(log)),
    ])
}

fn estimate(messages: &[ChatMessage]) -> Map<String, Value> {
    let each: Vec<u64> = messages.iter().map(message_tokens).collect();
    fields([
        ("per_message", json!(each)),
        ("total", json!(messages_tokens(messages))),
    ])
}

fn restored(case: &Case, stored: &[ChatMessage]) -> Map<String, Value> {
    let cleared = count(&case.config["clear_context_after_n"]);
    let max_turns = count(&case.config["agent_max_context_turns"]);
    let session = case.config["session_id"].as_str().unwrap_or_default();
    let restored = restore(stored, cleared, max_turns, session);
    fields([
        ("messages", as_json(&restored.messages)),
        ("restore_turns", json!(restored.n_turns)),
        ("loaded_raw_count", json!(restored.n_loaded)),
    ])
}

fn sanitized(mut messages: Vec<ChatMessage>) -> Map<String, Value> {
    let mut log = Vec::new();
    let returned = sanitize(&mut messages, &mut log);
    fields([
        ("messages", as_json(&messages)),
        ("returned", json!(returned)),
        ("log", json!(log)),
    ])
}

fn truncated(case: &Case, mut messages: Vec<ChatMessage>) -> Map<String, Value> {
    let before = messages_tokens(&messages);
    let passes = case.config["passes"].as_u64().unwrap_or(1);
    let told = case.expected["tails_after_each_pass"].as_array();
    let tails: Vec<Value> = (0..passes as usize)
        .map(|pass| {
            cut_history(
                &mut messages,
                HISTORY_RESULT_CHARS,
                Ends::Head,
                &mut Vec::new(),
            );
            tails(&messages, told.and_then(|passes| passes.get(pass)))
        })
        .collect();
    fields([
        ("messages", as_json(&messages)),
        ("tails_after_each_pass", json!(tails)),
        ("tokens_before", json!(before)),
        ("tokens_after", json!(messages_tokens(&messages))),
    ])
}

/// The ends of results. A case tells those of some results, and not which ones: of ours, those that it tells.
fn tails(messages: &[ChatMessage], told: Option<&Value>) -> Value {
    let whole = as_json(messages);
    let blocks = whole.as_array().into_iter().flatten();
    let blocks = blocks.filter_map(|m| m["content"].as_array()).flatten();
    let results = blocks.filter(|b| b["type"] == "tool_result");
    let told = told.and_then(Value::as_array);
    results
        .filter_map(|b| b["content"].as_str())
        .map(tail)
        .filter(|tail| told.is_some_and(|told| told.contains(tail)))
        .collect()
}

fn tail(text: &str) -> Value {
    let length = text.chars().count();
    text.chars()
        .skip(length.saturating_sub(90))
        .collect::<String>()
        .into()
}

fn messages(given: &Value) -> Vec<ChatMessage> {
    let given = given.as_array().into_iter().flatten();
    given.map(message_from_json).collect()
}

fn as_json(messages: &[ChatMessage]) -> Value {
    messages.iter().map(message_to_json).collect()
}

/// A count; 0 if it is missing or `null`.
fn count(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect()
}
