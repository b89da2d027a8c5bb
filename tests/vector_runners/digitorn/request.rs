//! Cases of tool results, tool definitions and the messages sent to the provider.

use super::{Case, messages_from_json, messages_to_json, number};
use plimsoll::json::{Map, Value, json};
use plimsoll::languages::python::is_true;
use plimsoll::languages::python::{Layout, python_dumps};
use plimsoll::systems::digitorn::provider_view::provider_view;
use plimsoll::systems::digitorn::tool_injection::ToolInjection;
use plimsoll::systems::digitorn::tool_result::{cut_result, max_result_chars};

pub(super) fn tool_injection(case: &Case) -> Value {
    let grid = case.input["grid"].as_array().into_iter().flatten();
    let modes = grid.map(|row| {
        let (tools, window) = (row[0].as_u64().unwrap_or(0), row[1].as_u64().unwrap_or(0));
        let definitions = row[2].as_array().or(case.input["direct_tools"].as_array());
        let definitions = definitions.map_or(&[][..], Vec::as_slice);
        let mode = ToolInjection::choose(tools, window, definitions);
        json!({"total_tools": tools, "context_window": window, "mode": mode.name()})
    });
    json!({"mode": modes.collect::<Value>()})
}

pub(super) fn tool_result(case: &Case) -> Value {
    let config = &case.config;
    let reserved = number(config, "output_reserved", 4_096);
    let most = max_result_chars(number(config, "max_tokens", 128_000), reserved);
    let text = serialize_result(&case.input["tool_result"]);
    let tool = config["tool_name"].as_str().unwrap_or_default();
    let cut = cut_result(&text, most, tool, false);
    let truncated = cut.is_some();
    let in_chars = text.chars().count();
    let content = cut.unwrap_or(text);
    json!({
        "max_chars": most,
        "in_chars": in_chars,
        "out_chars": content.chars().count(),
        "content": content,
        "truncated": truncated,
    })
}

pub(super) fn to_chat_messages(case: &Case) -> Value {
    let input = messages_from_json(&case.input["messages"]);
    let before = input.clone();
    let view = provider_view(&input);
    let mut answer = json!({"chat_messages": messages_to_json(&view)});
    if case.expected.get("input_unchanged").is_some() {
        answer["input_unchanged"] = json!(input == before);
    }
    answer
}

/// Converts a result to text: a text as it is, the data of a success, the error and data of a failure, otherwise JSON.
fn serialize_result(result: &Value) -> String {
    let written = |value: &Value| python_dumps(value, Layout::UNICODE);
    let data = result.get("data").unwrap_or(&Value::Null);
    match (result, result.get("success")) {
        (Value::String(text), _) => text.clone(),
        (_, Some(Value::Bool(true))) => written(data),
        (Value::Object(fields), Some(Value::Bool(false))) => {
            let error = fields.get("error").cloned().unwrap_or(Value::Null);
            let mut payload = Map::from_iter([("error".to_owned(), error)]);
            match data {
                Value::Object(fields) => payload.extend(fields.clone()),
                data if is_true(data) => {
                    payload.insert("data".to_owned(), data.clone());
                }
                _ => {}
            }
            written(&Value::Object(payload))
        }
        (other, _) => written(other),
    }
}
