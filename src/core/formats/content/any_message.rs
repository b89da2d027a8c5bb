//! A message in any known provider's or library's notation, as logs and traces record it.

use super::part;
use crate::formats::{content, json};
use crate::json::Value;
use crate::session::{Body, Draft, Part, Role, Span};

/// Reads a message. Returns `None` if no content is recognized. `span` is the message's byte range or that of the
/// record that contains it.
pub(crate) fn read(value: &Value, span: &Span) -> Option<Draft> {
    let inner = inner(value);
    let role = role(value, inner)?;
    let content =
        content::first(inner, &["content", "contents", "parts", "text"]).unwrap_or(&Value::Null);
    let content = unpacked(content);
    let mut parts =
        if role == Role::Tool { tool_result(inner, &content) } else { content::parts(&content) };
    if role == Role::Assistant {
        parts.splice(0..0, thought(inner));
        parts.extend(calls(inner, &parts));
    }
    // Formats with only user and assistant roles keep tool results in user messages.
    let is_tools =
        role == Role::User && !parts.is_empty() && parts.iter().all(content::is_of_result);
    (!parts.is_empty()).then(|| Draft {
        id: json::str_at(inner, &["id"]).map(Into::into),
        raw: vec![span.clone()],
        ..Draft::new(if is_tools { Role::Tool } else { role }, parts)
    })
}

/// Returns the message's content object, which `LangChain` nests one level deeper.
fn inner(value: &Value) -> &Value {
    ["kwargs", "data", "message"]
        .iter()
        .find_map(|key| value.get(key).filter(|v| v.is_object()))
        .unwrap_or(value)
}

fn role(value: &Value, inner: &Value) -> Option<Role> {
    let of = |value: &Value| {
        let class =
            value.get("id").and_then(Value::as_array).and_then(|path| path.last()?.as_str());
        let name = class
            .or_else(|| json::str_at(value, &["role"]))
            .or_else(|| json::str_at(value, &["type"]))?;
        named(name)
    };
    of(inner).or_else(|| of(value))
}

/// Returns the role for a role name, a message type, or a class name.
fn named(name: &str) -> Option<Role> {
    let name = name.strip_suffix("Chunk").unwrap_or(name);
    Some(match name.strip_suffix("Message").unwrap_or(name).to_ascii_lowercase().as_str() {
        "system" | "developer" => Role::System,
        "user" | "human" => Role::User,
        "assistant" | "ai" | "model" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => return None,
    })
}

/// Parses content blocks that traces store as JSON text.
fn unpacked(content: &Value) -> Value {
    let blocks = content.as_str().filter(|text| text.starts_with("[{"));
    let blocks = blocks.and_then(|text| crate::json::from_str(text).ok());
    let is_blocks = |v: &Value| {
        let blocks = v.as_array().into_iter().flatten();
        blocks.into_iter().all(|b| b.get("type").is_some_and(Value::is_string))
    };
    blocks.filter(is_blocks).unwrap_or_else(|| content.clone())
}

fn tool_result(message: &Value, content: &Value) -> Vec<Part> {
    let blocks = content::parts(content);
    if blocks.iter().any(|p| matches!(p.body, Body::ToolResult { .. })) {
        return blocks;
    }
    let call =
        content::first(message, &["tool_call_id", "toolCallId", "id"]).and_then(Value::as_str);
    let failed = json::str_at(message, &["status"]) == Some("error");
    content::result(0, (call, json::str_at(message, &["name"])), failed, content)
}

fn thought(message: &Value) -> Option<Part> {
    let text = ["reasoning_content", "reasoning"].iter().find_map(|key| {
        json::str_at(message, &[key]).or_else(|| json::str_at(message, &["additional_kwargs", key]))
    });
    content::thought(text?, 0).map(|body| part(0, body))
}

/// Returns the calls that are not among the content blocks.
fn calls(message: &Value, parts: &[Part]) -> Vec<Part> {
    if parts.iter().any(|p| matches!(p.body, Body::ToolCall { .. })) {
        return Vec::new();
    }
    let listed = ["tool_calls", "toolCalls"]
        .iter()
        .find_map(|key| message.get(key)?.as_array().filter(|list| !list.is_empty()));
    let listed =
        listed.or_else(|| json::at(message, &["additional_kwargs", "tool_calls"])?.as_array());
    let call = |(idx, call): (usize, &Value)| {
        let call = call.get("tool_call").unwrap_or(call);
        let function = call.get("function").filter(|f| f.is_object()).unwrap_or(call);
        let name = content::first(function, &["name", "toolName"]).and_then(Value::as_str);
        let id = content::first(call, &["id", "toolCallId", "call_id"]).and_then(Value::as_str);
        let arguments = content::first(function, &["arguments", "args", "input"]);
        part(idx, content::call(id, name.unwrap_or_default(), arguments))
    };
    listed.into_iter().flatten().enumerate().map(call).collect()
}
