//! Conversion of the agent's own blocks to `OpenAI` messages, the format of most of its providers.

use plimsoll::json::{Value, json};
use plimsoll::languages::python::{Layout, python_dumps};
use std::collections::HashSet;

/// Converts messages: results first, then the text of the same message. Drops thinking and results without an earlier
/// call.
pub(super) fn to_openai(messages: &[Value]) -> Vec<Value> {
    let mut calls: HashSet<String> = HashSet::new();
    let mut converted: Vec<Value> = messages.iter().flat_map(convert).collect();
    converted.retain(|message| {
        if message["role"] == "assistant" {
            let ids = message["tool_calls"].as_array().into_iter().flatten();
            calls.extend(ids.filter_map(|call| call["id"].as_str()).map(str::to_owned));
        }
        let call_id = message["tool_call_id"].as_str().unwrap_or_default();
        message["role"] != "tool" || call_id.is_empty() || calls.contains(call_id)
    });
    converted
}

fn convert(message: &Value) -> Vec<Value> {
    let Value::Array(blocks) = &message["content"] else {
        return vec![message.clone()];
    };
    let results: Vec<Value> = of_type(blocks, "tool_result").map(result).collect();
    if message["role"] == "assistant" {
        return vec![assistant(blocks)];
    }
    if message["role"] != "user" || results.is_empty() {
        return vec![message.clone()];
    }
    let text = joined_texts(blocks).map(|text| json!({"role": "user", "content": text}));
    results.into_iter().chain(text).collect()
}

fn of_type<'a>(blocks: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    blocks.iter().filter(move |block| block["type"] == kind)
}

/// Joins texts by a space; `None` if there is no text block.
fn joined_texts(blocks: &[Value]) -> Option<String> {
    let texts = of_type(blocks, "text").map(|block| text(block, "text"));
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

fn text<'a>(block: &'a Value, key: &str) -> &'a str {
    block[key].as_str().unwrap_or_default()
}

fn result(block: &Value) -> Value {
    let content = match block.get("content") {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => python_dumps(other, Layout::UNICODE),
    };
    json!({"role": "tool", "content": content, "tool_call_id": text(block, "tool_use_id")})
}

fn assistant(blocks: &[Value]) -> Value {
    let mut message = json!({"role": "assistant", "content": joined_texts(blocks)});
    let calls: Vec<Value> = of_type(blocks, "tool_use").map(call).collect();
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

/// Converts a call, with arguments in ASCII.
fn call(block: &Value) -> Value {
    let arguments = block
        .get("input")
        .map_or_else(|| "{}".to_owned(), |input| python_dumps(input, Layout::ASCII));
    json!({
        "id": text(block, "id"),
        "type": "function",
        "function": {"name": text(block, "name"), "arguments": arguments},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_precede_the_text_and_thinking_is_removed() {
        let messages = [
            json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "tool_use", "id": "1", "name": "t", "input": {"a": "é"}}]}),
            json!({"role": "user", "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "é"}]},
                {"type": "text", "text": "b"}]}),
        ];
        let call = json!({"id": "1", "type": "function",
            "function": {"name": "t", "arguments": r#"{"a": "\u00e9"}"#}});
        let wanted = [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "content": r#"[{"type": "text", "text": "é"}]"#, "tool_call_id": "1"}),
            json!({"role": "user", "content": "a b"}),
        ];
        assert_eq!(to_openai(&messages), wanted);
    }
}
