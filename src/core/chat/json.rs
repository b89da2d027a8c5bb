//! Converts messages from and to JSON without loss. `null` and missing fields remain distinct.

use super::{
    Arguments, Block, BlockBody, Call, Calls, ChatMessage, Content, Fields, Function, Image, Text,
};
use crate::json::{Map, Value, json};
use std::sync::Arc;

/// Reads a message in the shape of OpenAI or Anthropic. A value other than an object becomes a message without a role.
pub fn message_from_json(value: &Value) -> ChatMessage {
    let mut rest = value.as_object().cloned().unwrap_or_default();
    let text = |rest: &mut Map<String, Value>, key: &str| -> Option<Arc<str>> {
        let text: Arc<str> = rest.get(key)?.as_str()?.into();
        rest.shift_remove(key);
        Some(text)
    };
    let role = text(&mut rest, "role").unwrap_or_default();
    let call_id = text(&mut rest, "tool_call_id");
    let name = text(&mut rest, "name");
    let reasoning = text(&mut rest, "reasoning_content").map(|text| Text { text, part: None });
    let content = rest.shift_remove("content");
    let calls = match rest.shift_remove("tool_calls") {
        None => Calls::Missing,
        Some(Value::Null) => Calls::Null,
        Some(Value::Array(calls)) if calls.iter().all(Value::is_object) => {
            Calls::List(calls.iter().map(call_from_json).collect())
        }
        Some(other) => Calls::Other(Box::new(other)),
    };
    ChatMessage::from(Fields {
        role,
        content: content.map_or(Content::Missing, content_from_json),
        calls,
        call_id,
        name,
        reasoning,
        rest: rest.into(),
        written: None,
        stands_for: None,
    })
}

fn content_from_json(value: Value) -> Content {
    match value {
        Value::Null => Content::Null,
        Value::String(text) => Content::text(text),
        Value::Array(blocks) => Content::Blocks(blocks.into_iter().map(block_from_json).collect()),
        other => Content::Other(Box::new(other)),
    }
}

/// Keeps a block with unusual fields verbatim, so that nothing is lost.
fn block_from_json(value: Value) -> Block {
    let known = value.as_object().and_then(|block| {
        let text = |key: &str| block.get(key)?.as_str();
        let has_only = |keys: &[&str]| block.keys().all(|key| keys.contains(&key.as_str()));
        match text("type")? {
            "text" if has_only(&["type", "text"]) => Some(BlockBody::Text(text("text")?.into())),
            "image_url" | "image" => {
                Some(BlockBody::Image(Image { json: Arc::new(value.clone()), pixels: None }))
            }
            "tool_use" if has_only(&["type", "id", "name", "input"]) => Some(BlockBody::ToolUse {
                id: text("id")?.into(),
                name: text("name")?.into(),
                input: block.get("input")?.clone(),
            }),
            "tool_result" if has_only(&["type", "tool_use_id", "content", "is_error"]) => {
                let content = block.get("content").cloned();
                Some(BlockBody::ToolResult {
                    id: text("tool_use_id")?.into(),
                    content: Box::new(content.map_or(Content::Missing, content_from_json)),
                    is_error: match block.get("is_error") {
                        None => None,
                        Some(flag) => Some(flag.as_bool()?),
                    },
                })
            }
            "thinking" => Some(BlockBody::Thinking(value.clone())),
            _ => None,
        }
    });
    Block { part: None, body: known.unwrap_or(BlockBody::Other(value)) }
}

/// Reads one item of `tool_calls`, which must be an object.
pub fn call_from_json(value: &Value) -> Call {
    let mut rest = value.as_object().cloned().unwrap_or_default();
    let id = rest.get("id").and_then(Value::as_str).map(Arc::from);
    if id.is_some() {
        rest.shift_remove("id");
    }
    let function = rest.get("function").and_then(function_from_json);
    if function.is_some() {
        rest.shift_remove("function");
    }
    Call { part: None, id, function, rest: rest.into() }
}

fn function_from_json(value: &Value) -> Option<Function> {
    let mut rest = value.as_object()?.clone();
    let name = rest.shift_remove("name")?.as_str()?.into();
    let arguments = match rest.shift_remove("arguments") {
        None => Arguments::Missing,
        Some(Value::String(text)) => Arguments::Text(text.into()),
        Some(other) => Arguments::Json(Box::new(other)),
    };
    Some(Function { name, arguments, rest: rest.into() })
}

/// Writes a message in the form that [`message_from_json`] reads.
pub fn message_to_json(message: &ChatMessage) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("role", json!(&*message.role));
    if let Some(content) = content_to_json(&message.content) {
        put("content", content);
    }
    match &message.calls {
        Calls::Missing => {}
        Calls::Null => _ = put("tool_calls", Value::Null),
        Calls::List(calls) => _ = put("tool_calls", calls.iter().map(call_to_json).collect()),
        Calls::Other(other) => _ = put("tool_calls", (**other).clone()),
    }
    if let Some(id) = &message.call_id {
        put("tool_call_id", json!(&**id));
    }
    if let Some(name) = &message.name {
        put("name", json!(&**name));
    }
    if let Some(reasoning) = &message.reasoning {
        put("reasoning_content", json!(&*reasoning.text));
    }
    object.extend((*message.rest).clone());
    Value::Object(object)
}

fn content_to_json(content: &Content) -> Option<Value> {
    match content {
        Content::Missing => None,
        Content::Null => Some(Value::Null),
        Content::Text(text) => Some(json!(&*text.text)),
        Content::Blocks(blocks) => Some(blocks.iter().map(block_to_json).collect()),
        Content::Other(other) => Some((**other).clone()),
    }
}

fn block_to_json(block: &Block) -> Value {
    match &block.body {
        BlockBody::Text(text) => json!({"type": "text", "text": &**text}),
        BlockBody::Image(image) => (*image.json).clone(),
        BlockBody::ToolUse { id, name, input } => {
            json!({"type": "tool_use", "id": &**id, "name": &**name, "input": input})
        }
        BlockBody::ToolResult { id, content, is_error } => {
            let mut result = json!({"type": "tool_result", "tool_use_id": &**id});
            if let Some(content) = content_to_json(content) {
                result["content"] = content;
            }
            if let Some(is_error) = is_error {
                result["is_error"] = json!(is_error);
            }
            result
        }
        BlockBody::Thinking(value) | BlockBody::Other(value) => value.clone(),
    }
}

fn call_to_json(call: &Call) -> Value {
    let mut object = Map::new();
    if let Some(id) = &call.id {
        object.insert("id".to_owned(), json!(&**id));
    }
    object.extend((*call.rest).clone());
    if let Some(function) = &call.function {
        object.insert("function".to_owned(), function_to_json(function));
    }
    Value::Object(object)
}

fn function_to_json(function: &Function) -> Value {
    let mut value = json!({"name": &*function.name});
    match &function.arguments {
        Arguments::Missing => {}
        Arguments::Text(text) => value["arguments"] = json!(&**text),
        Arguments::Json(json) => value["arguments"] = (**json).clone(),
    }
    if let Value::Object(object) = &mut value {
        object.extend((*function.rest).clone());
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_unknown_fields_of_calls_and_functions() {
        let message = json!({"role": "assistant", "content": null, "name": "a", "x": 1, "tool_calls": [{
            "id": "c", "type": "function", "index": 0,
            "function": {"name": "f", "arguments": "{}", "strict": true, "thought_signature": "s"},
        }]});
        assert_eq!(message_to_json(&message_from_json(&message)), message);
    }
}
