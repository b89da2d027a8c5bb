//! `OpenAI` Chat Completions.

use super::{Wire, append, has_roles, merge, take};
use crate::formats::{json, message_list, openai_chat};
use crate::json::{Value, json};

/// Maximum number of tool calls of an answer.
// Chosen: an answer has a few. The index of a call is read from the stream.
const MAX_CALLS: usize = 10_000;

pub(super) const WIRE: Wire = Wire {
    dialect: &openai_chat::DIALECT,
    list: "messages",
    answer: &["choices", "message"],
    paths: &["/chat/completions"],
    is_request: |request| has_roles(request.get("messages")),
    is_own_request: |_| false,
    is_response: |response| response.get("choices").is_some_and(Value::is_array),
    request: |request| request,
    whole: |response| response,
    join,
    call: message_list::call_of,
};

fn join(chunks: Vec<Value>) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls: Vec<Value> = Vec::new();
    let mut choice = json!({});
    let mut response = json!({});
    for mut chunk in chunks {
        let choices = take(&mut chunk, "choices");
        // The last chunk may have usage and no choice.
        merge(&mut response, chunk);
        let is_first = |choice: &&Value| json::u64_at(choice, &["index"]).unwrap_or(0) == 0;
        let Some(first) = choices.as_array().and_then(|list| list.iter().find(is_first)) else {
            continue;
        };
        if let Some(reason) = json::str_at(first, &["finish_reason"]) {
            merge(&mut choice, json!({"finish_reason": reason}));
        }
        // A whole answer in a stream of one chunk.
        if let Some(whole) = first.get("message").filter(|whole| whole.is_object()) {
            merge(&mut message, whole.clone());
        }
        let delta = first.get("delta").unwrap_or(&Value::Null);
        for key in ["content", "reasoning_content", "reasoning", "refusal"] {
            if let Some(more) = json::str_at(delta, &[key]) {
                append(&mut message, key, more);
            }
        }
        let listed = delta.get("tool_calls").and_then(Value::as_array);
        for (nth, delta) in listed.into_iter().flatten().enumerate() {
            add_call(&mut calls, nth, delta);
        }
    }
    calls.retain(|call| !call.is_null());
    if !calls.is_empty() {
        merge(&mut message, json!({"tool_calls": calls}));
    }
    merge(&mut choice, json!({"message": message}));
    merge(&mut response, json!({"choices": [choice]}));
    response
}

/// Adds a piece of a tool call.
fn add_call(calls: &mut Vec<Value>, nth: usize, delta: &Value) {
    let index = json::u64_at(delta, &["index"]).map_or(Some(nth), |n| usize::try_from(n).ok());
    let Some(index) = index.filter(|index| *index < MAX_CALLS) else {
        return;
    };
    calls.resize(calls.len().max(index + 1), Value::Null);
    let call = &mut calls[index];
    if call.is_null() {
        *call = json!({"type": "function", "function": {"name": "", "arguments": ""}});
    }
    if let Some(id) = json::str_at(delta, &["id"]).filter(|id| !id.is_empty()) {
        merge(call, json!({"id": id}));
    }
    if let Some(function) = call.get_mut("function") {
        for key in ["name", "arguments"] {
            if let Some(more) = json::str_at(delta, &["function", key]) {
                append(function, key, more);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_chunks_of_a_text_and_calls() {
        let chunks = [
            json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "I "}}]}),
            json!({"choices": [{"index": 0, "delta": {"content": "look."}}]}),
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "ls", "arguments": "{\"a"}}]}}]}),
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1, "function": {"arguments": "\":1}"}}]}, "finish_reason": "tool_calls"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}),
        ];
        let response = join(chunks.into());
        let message = &response["choices"][0]["message"];
        assert_eq!(message["content"], "I look.");
        assert_eq!(message["tool_calls"].as_array().map(Vec::len), Some(1));
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{\"a\":1}");
        let call = (WIRE.call)(&response).unwrap();
        assert_eq!(call.usage.unwrap().input.0, 7);
        assert_eq!(call.model.as_deref(), Some("m"));
    }
}
