//! Anthropic Messages.

use super::{Wire, append, has_roles, merge, take};
use crate::formats::anthropic_messages::{self, is_own_block};
use crate::formats::{json, message_list};
use crate::json::{Value, json};

/// Maximum number of content blocks of an answer.
// Chosen: an answer has a few dozen. The index of a block is read from the stream.
const MAX_BLOCKS: usize = 10_000;

pub(super) const WIRE: Wire = Wire {
    dialect: &anthropic_messages::DIALECT,
    list: "messages",
    answer: &[],
    paths: &["/messages", "/invoke", ":rawPredict", ":streamRawPredict"],
    is_request: |request| has_roles(request.get("messages")),
    is_own_request: |request| {
        let messages = request.get("messages");
        let blocks = messages.and_then(Value::as_array).into_iter().flatten();
        let mut blocks = blocks.filter_map(|m| m.get("content")?.as_array()).flatten();
        let tools = request.get("tools").and_then(Value::as_array).into_iter().flatten();
        request.get("system").is_some()
            || request.get("anthropic_version").is_some()
            || tools.into_iter().any(|tool| tool.get("input_schema").is_some())
            || blocks.any(is_own_block)
    },
    is_response: |response| {
        matches!(json::str_at(response, &["type"]), Some("message" | "message_start"))
    },
    request,
    whole: |response| response,
    join,
    call: message_list::call_of,
};

/// Removes the block that Claude Code adds for billing. Its text changes with every call.
fn request(mut request: Value) -> Value {
    if let Some(system) = request.get_mut("system").and_then(Value::as_array_mut) {
        system.retain(|block| {
            let text = json::str_at(block, &["text"]).unwrap_or_default();
            !text.starts_with("x-anthropic-billing-header")
        });
    }
    request
}

fn join(events: Vec<Value>) -> Value {
    let mut message = json!({"type": "message", "role": "assistant"});
    let mut blocks: Vec<Value> = Vec::new();
    for mut event in events {
        let index = json::u64_at(&event, &["index"]).and_then(|index| usize::try_from(index).ok());
        let index = index.filter(|index| *index < MAX_BLOCKS);
        match json::str_at(&event, &["type"]) {
            Some("message_start") => merge(&mut message, take(&mut event, "message")),
            Some("content_block_start") => {
                if let Some(index) = index {
                    blocks.resize(blocks.len().max(index + 1), Value::Null);
                    blocks[index] = take(&mut event, "content_block");
                }
            }
            Some("content_block_delta") => {
                if let Some(block) = index.and_then(|index| blocks.get_mut(index)) {
                    delta(block, event.get("delta").unwrap_or(&Value::Null));
                }
            }
            Some("message_delta") => {
                merge(&mut message, take(&mut event, "delta"));
                let usage = take(&mut event, "usage");
                match message.get_mut("usage") {
                    Some(all) => merge(all, usage),
                    None => merge(&mut message, json!({"usage": usage})),
                }
            }
            Some("error") => merge(&mut message, json!({"error": take(&mut event, "error")})),
            // Some gateways send a whole message as an event.
            Some("message") => merge(&mut message, event),
            _ => {}
        }
    }
    for block in &mut blocks {
        parse_input(block);
    }
    blocks.retain(|block| !block.is_null());
    if !blocks.is_empty() {
        merge(&mut message, json!({"content": blocks}));
    }
    message
}

fn delta(block: &mut Value, delta: &Value) {
    for (key, target) in [
        ("text", "text"),
        ("thinking", "thinking"),
        ("signature", "signature"),
        ("partial_json", PARTIAL_INPUT),
    ] {
        if let Some(more) = json::str_at(delta, &[key]) {
            append(block, target, more);
        }
    }
}

/// Member for the text of the input until it is complete.
const PARTIAL_INPUT: &str = "partial_json";

/// Parses the input of a tool call from its text.
fn parse_input(block: &mut Value) {
    let Some(members) = block.as_object_mut() else {
        return;
    };
    if let Some(text) = members.shift_remove(PARTIAL_INPUT) {
        let parsed = text.as_str().and_then(|text| crate::json::from_str(text).ok());
        members.insert("input".to_owned(), parsed.unwrap_or(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_texts_thoughts_and_calls() {
        let events = [
            json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": [],
                "stop_reason": null, "usage": {"input_tokens": 5, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "ls", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"p\":"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "1}"}}),
            json!({"type": "content_block_delta", "index": 99, "delta": {"text": "nowhere"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        ];
        let message = join(events.into());
        assert_eq!(message["content"][0]["signature"], "c2ln");
        assert_eq!(message["content"][1]["input"], json!({"p": 1}));
        assert_eq!(message["stop_reason"], "tool_use");
        let usage = (WIRE.call)(&message).and_then(|call| call.usage).unwrap();
        assert_eq!((usage.input.0, usage.output.map(|n| n.0)), (5, Some(9)));
    }
}
