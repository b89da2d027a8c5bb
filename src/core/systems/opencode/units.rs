//! Messages as the program stores them: an answer with the results of its calls is one.

use crate::chat::{ChatMessage, stored_ranges};
use crate::json::{Value, json};
use crate::languages::javascript::length;
use std::collections::BTreeMap;
use std::ops::Range;

/// Returns the ranges of messages that the program stores as one.
pub(super) fn units(messages: &[ChatMessage]) -> Vec<Range<usize>> {
    stored_ranges(messages, 0, |_, message| message.is("tool"))
}

/// `SessionCompaction.estimate`: returns the estimated tokens of messages, a quarter of their JSON as messages for a model, rounded.
pub(super) fn estimated_tokens(messages: &[ChatMessage]) -> usize {
    let mut tools: BTreeMap<&str, &str> = BTreeMap::new();
    let mut model: Vec<Value> = Vec::new();
    for message in messages {
        match &*message.role {
            "assistant" => {
                let mut content = Vec::new();
                if let Some(thinking) = &message.reasoning {
                    content.push(json!({"type": "reasoning", "text": &*thinking.text}));
                }
                let text = message.joined_text("");
                if !text.is_empty() {
                    content.push(json!({"type": "text", "text": text}));
                }
                for call in message.calls() {
                    let id = call.id.as_deref().unwrap_or_default();
                    tools.insert(id, call.tool());
                    content.push(json!({"type": "tool-call", "toolCallId": id,
                        "toolName": call.tool(), "input": call.arguments_as_value()}));
                }
                model.push(json!({"role": "assistant", "content": content}));
            }
            "tool" => {
                let id = message.call_id.as_deref().unwrap_or_default();
                let tool = tools.get(id).copied().unwrap_or_default();
                let output = json!({"type": "text", "value": message.joined_text("")});
                let result = json!({"type": "tool-result", "toolCallId": id, "toolName": tool,
                    "output": output});
                match model.last_mut() {
                    Some(last) if last["role"] == "tool" => {
                        if let Some(results) = last["content"].as_array_mut() {
                            results.push(result);
                        }
                    }
                    _ => model.push(json!({"role": "tool", "content": [result]})),
                }
            }
            role => {
                let content = json!([{"type": "text", "text": message.joined_text("")}]);
                model.push(json!({"role": role, "content": content}));
            }
        }
    }
    rounded_quarter(length(&Value::from(model).to_string()))
}

/// `Token.estimate`: returns a quarter of a number of characters, rounded.
pub(super) fn rounded_quarter(chars: usize) -> usize {
    (chars + 2) / 4
}
