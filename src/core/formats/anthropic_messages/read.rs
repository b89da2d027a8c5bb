//! Reads messages, tool definitions and system prompts.

use crate::formats::content::{
    AnsweredCall, CallMatcher, empty_content, of_block, opaque, part, tool_definitions,
};
use crate::formats::json;
use crate::formats::message_list::time_of;
use crate::formats::notes::unknown_role;
use crate::json::Value;
use crate::session::{Body, Draft, Part, Role};

/// Returns the tools and the system prompt of a request.
pub(super) fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let tools = tool_definitions(body, &["tools"]).map(|draft| ("tools", draft));
    let system = body.get("system").map(system).filter(|parts| !parts.is_empty());
    let system = system.map(|parts| ("system", Draft::new(Role::System, parts)));
    tools.into_iter().chain(system).collect()
}

/// Reads a message.
pub(super) fn message(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let role = match json::str_at(value, &["role"]) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some(other) => return Err(unknown_role(other)),
        None => return Err("a record without a role is kept, but not sent to the model".to_owned()),
    };
    let parts = match value.get("content") {
        Some(Value::String(text)) if !text.is_empty() => {
            vec![part(0, Body::Text(text.as_str().into()))]
        }
        Some(Value::Array(blocks)) => {
            blocks.iter().enumerate().flat_map(|(idx, b)| block(idx, b, calls)).collect()
        }
        _ => Vec::new(),
    };
    let mut draft = Draft::new(role, parts);
    draft.id = json::str_at(value, &["id"]).map(Into::into);
    draft.time = time_of(value);
    draft.empty = empty_content(value);
    Ok(draft)
}

/// Returns one part for each block of the system prompt.
fn system(value: &Value) -> Vec<Part> {
    let text = |block: &Value| {
        json::str_at(block, &["text"]).map_or_else(|| opaque(block), |t| Body::Text(t.into()))
    };
    match value {
        Value::String(text) if !text.is_empty() => vec![part(0, Body::Text(text.as_str().into()))],
        Value::Array(blocks) => {
            blocks.iter().enumerate().map(|(idx, b)| part(idx, text(b))).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a block's part, followed by the media inside it for a tool result.
fn block(idx: usize, block: &Value, calls: &mut CallMatcher) -> Vec<Part> {
    let body = match json::str_at(block, &["type"]) {
        Some("tool_result") => return result(idx, block, calls),
        Some("text") => json::str_at(block, &["text"]).map(|text| Body::Text(text.into())),
        Some("thinking") => Some(Body::Thinking {
            text: json::str_at(block, &["thinking"]).unwrap_or_default().into(),
            sealed_bytes: len_of(block, "signature"),
            reported: None,
        }),
        Some("redacted_thinking") => Some(Body::Thinking {
            text: "".into(),
            sealed_bytes: len_of(block, "data"),
            reported: None,
        }),
        Some("tool_use") => {
            let tool = json::str_at(block, &["name"]).unwrap_or_default();
            let call = calls.add(json::str_at(block, &["id"]), tool);
            let arguments = match block.get("input") {
                Some(Value::String(text)) => text.as_str().into(),
                Some(input) => input.to_string().into(),
                None => "".into(),
            };
            Some(Body::ToolCall { call, tool: tool.into(), arguments })
        }
        _ => block.as_str().map(|text| Body::Text(text.into())),
    };
    vec![part(idx, body.unwrap_or_else(|| media_or_opaque(block, None)))]
}

fn result(idx: usize, block: &Value, calls: &mut CallMatcher) -> Vec<Part> {
    let AnsweredCall { id: call, tool } = calls.answer(json::str_at(block, &["tool_use_id"]));
    let content = block.get("content").unwrap_or(&Value::Null);
    let nested = content.as_array().into_iter().flatten();
    let nested = nested.filter(|b| !b.is_string() && json::str_at(b, &["text"]).is_none());
    let nested: Vec<Part> = nested.map(|b| part(idx, media_or_opaque(b, Some(&call)))).collect();
    let is_error = json::is_true(block, &["is_error"]);
    let text = json::text_of(content).into();
    let mut parts = vec![part(idx, Body::ToolResult { call, tool, is_error, text })];
    parts.extend(nested);
    parts
}

fn media_or_opaque(block: &Value, within: Option<&str>) -> Body {
    of_block(block).map_or_else(|| opaque(block), |media| media.body(within))
}

fn len_of(block: &Value, key: &str) -> u32 {
    let len = json::str_at(block, &[key]).map_or(0, str::len);
    u32::try_from(len).unwrap_or(u32::MAX)
}
