//! A message in anybody's words: what logs and traces keep of a call, whoever wrote it and through whatever library.

use super::content;
use super::json;
use super::message_list::part;
use crate::session::{Draft, Part, Role, Span};
use serde_json::Value;

/// Reads a message; none where it says nothing that we understand. `span` is where it, or what holds it, stands.
pub(super) fn read(value: &Value, span: &Span) -> Option<Draft> {
    let inner = inner(value);
    let role = role(value, inner)?;
    let said =
        content::first(inner, &["content", "contents", "parts", "text"]).unwrap_or(&Value::Null);
    let said = unpacked(said);
    let mut parts = if role == Role::Tool {
        answer(inner, &said)
    } else {
        content::parts(&said)
    };
    if role == Role::Assistant {
        parts.splice(0..0, thought(inner));
        parts.extend(calls(inner, &parts));
    }
    // Where only people and the model speak, what tools gave back stands in people's messages.
    let is_answer = |part: &Part| {
        use crate::session::Body;
        matches!(
            part.body,
            Body::ToolResult { .. }
                | Body::Media {
                    within: Some(_),
                    ..
                }
        )
    };
    let is_tools = role == Role::User && !parts.is_empty() && parts.iter().all(is_answer);
    (!parts.is_empty()).then(|| Draft {
        id: json::str_at(inner, &["id"]).map(Into::into),
        raw: vec![span.clone()],
        ..Draft::new(if is_tools { Role::Tool } else { role }, parts)
    })
}

/// `LangChain` keeps what a message says a level below.
fn inner(value: &Value) -> &Value {
    ["kwargs", "data", "message"]
        .iter()
        .find_map(|key| value.get(key).filter(|v| v.is_object()))
        .unwrap_or(value)
}

fn role(value: &Value, inner: &Value) -> Option<Role> {
    let of = |value: &Value| {
        let class = value
            .get("id")
            .and_then(Value::as_array)
            .and_then(|path| path.last()?.as_str());
        let name = class
            .or_else(|| json::str_at(value, &["role"]))
            .or_else(|| json::str_at(value, &["type"]))?;
        named(name)
    };
    of(inner).or_else(|| of(value))
}

/// Who this is: by a role, a type of message, or the name of a class.
fn named(name: &str) -> Option<Role> {
    let name = name.strip_suffix("Chunk").unwrap_or(name);
    Some(
        match name
            .strip_suffix("Message")
            .unwrap_or(name)
            .to_ascii_lowercase()
            .as_str()
        {
            "system" | "developer" => Role::System,
            "user" | "human" => Role::User,
            "assistant" | "ai" | "model" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ => return None,
        },
    )
}

/// Traces keep blocks as a text that holds their JSON.
fn unpacked(said: &Value) -> Value {
    let blocks = said.as_str().filter(|text| text.starts_with("[{"));
    let blocks = blocks.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let is_blocks = |v: &Value| {
        let blocks = v.as_array().into_iter().flatten();
        blocks
            .into_iter()
            .all(|b| b.get("type").is_some_and(Value::is_string))
    };
    blocks.filter(is_blocks).unwrap_or_else(|| said.clone())
}

fn answer(message: &Value, said: &Value) -> Vec<Part> {
    let blocks = content::parts(said);
    if blocks
        .iter()
        .any(|p| matches!(p.body, crate::session::Body::ToolResult { .. }))
    {
        return blocks;
    }
    let call =
        content::first(message, &["tool_call_id", "toolCallId", "id"]).and_then(Value::as_str);
    let failed = json::str_at(message, &["status"]) == Some("error");
    content::result(0, (call, json::str_at(message, &["name"])), failed, said)
}

fn thought(message: &Value) -> Option<Part> {
    let text = ["reasoning_content", "reasoning"].iter().find_map(|key| {
        json::str_at(message, &[key]).or_else(|| json::str_at(message, &["additional_kwargs", key]))
    });
    content::thought(text?, 0).map(|body| part(0, body))
}

/// The calls that the blocks do not hold already.
fn calls(message: &Value, parts: &[Part]) -> Vec<Part> {
    if parts
        .iter()
        .any(|p| matches!(p.body, crate::session::Body::ToolCall { .. }))
    {
        return Vec::new();
    }
    let listed = ["tool_calls", "toolCalls"]
        .iter()
        .find_map(|key| message.get(key)?.as_array().filter(|list| !list.is_empty()));
    let listed =
        listed.or_else(|| json::at(message, &["additional_kwargs", "tool_calls"])?.as_array());
    let call = |(idx, call): (usize, &Value)| {
        let call = call.get("tool_call").unwrap_or(call);
        let function = call
            .get("function")
            .filter(|f| f.is_object())
            .unwrap_or(call);
        let name = content::first(function, &["name", "toolName"]).and_then(Value::as_str);
        let id = content::first(call, &["id", "toolCallId", "call_id"]).and_then(Value::as_str);
        let arguments = content::first(function, &["arguments", "args", "input"]);
        part(idx, content::call(id, name.unwrap_or_default(), arguments))
    };
    listed.into_iter().flatten().enumerate().map(call).collect()
}
