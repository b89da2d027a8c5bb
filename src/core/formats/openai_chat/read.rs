//! Reads messages.

use crate::formats::content::{
    AnsweredCall, CallMatcher, empty_content, of_block, opaque, part, tool_definitions,
};
use crate::formats::json;
use crate::formats::message_list::time_of;
use crate::formats::notes::unknown_role;
use crate::json::Value;
use crate::session::{Body, Draft, Part, Role};

/// Reads the tool definitions of a request, including legacy functions.
pub(crate) fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    tool_definitions(body, &["tools", "functions"])
        .map(|draft| ("tools", draft))
        .into_iter()
        .collect()
}

/// Reads a message.
pub(crate) fn message(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let (role, parts) = match json::str_at(value, &["role"]) {
        Some("system" | "developer") => (Role::System, content(value)),
        Some("user") => (Role::User, content(value)),
        Some("assistant") => (Role::Assistant, answer(value, calls)),
        Some("tool" | "function") => (Role::Tool, result(value, calls)),
        Some(other) => return Err(unknown_role(other)),
        None => return Err("a record without a role is kept, but not sent to the model".to_owned()),
    };
    let mut draft = Draft::new(role, parts);
    draft.id = json::str_at(value, &["id"]).map(Into::into);
    draft.time = time_of(value);
    draft.empty = empty_content(value);
    // Output of a command that an agent without tool calls wrote as text (mini-SWE-agent).
    let is_observation =
        ["raw_output", "returncode"].iter().any(|key| json::at(value, &["extra", key]).is_some());
    draft.is_injected = draft.role == Role::User && is_observation;
    Ok(draft)
}

/// Reads texts and media. An empty text is not a part.
fn content(value: &Value) -> Vec<Part> {
    match value.get("content") {
        Some(Value::String(text)) if !text.is_empty() => {
            vec![part(0, Body::Text(text.as_str().into()))]
        }
        Some(Value::Array(blocks)) => {
            blocks.iter().enumerate().map(|(idx, b)| part(idx, block(b, None))).collect()
        }
        Some(Value::Object(_)) => vec![part(0, opaque(&value["content"]))],
        _ => Vec::new(),
    }
}

fn block(block: &Value, within: Option<&str>) -> Body {
    let text = match json::str_at(block, &["type"]) {
        Some("text") => json::str_at(block, &["text"]),
        Some("refusal") => json::str_at(block, &["refusal"]),
        _ => block.as_str(),
    };
    let media = || of_block(block).map(|media| media.body(within));
    text.map(|text| Body::Text(text.into())).or_else(media).unwrap_or_else(|| opaque(block))
}

/// Reads the thoughts, texts and tool calls of an answer, in this order.
fn answer(value: &Value, calls: &mut CallMatcher) -> Vec<Part> {
    let mut parts: Vec<Part> = thinking(value).into_iter().collect();
    parts.extend(content(value));
    if let Some(refusal) = json::str_at(value, &["refusal"]).filter(|text| !text.is_empty()) {
        // The refusal counts as a block after those of the content.
        let n_blocks = value.get("content").and_then(Value::as_array).map_or(1, Vec::len);
        parts.push(part(n_blocks, Body::Text(refusal.into())));
    }
    let listed = value.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    parts.extend(listed.enumerate().map(|(idx, tool_call)| part(idx, call(tool_call, calls))));
    if let Some(tool_call) = value.get("function_call").filter(|tool_call| tool_call.is_object()) {
        // Legacy function calls have no ids: the result names the function.
        let tool = json::str_at(tool_call, &["name"]).unwrap_or_default();
        let call = calls.add(Some(tool), tool);
        parts.push(part(
            0,
            Body::ToolCall { call, tool: tool.into(), arguments: arguments(tool_call) },
        ));
    }
    parts
}

fn thinking(value: &Value) -> Option<Part> {
    let text =
        ["reasoning_content", "reasoning"].iter().find_map(|key| json::str_at(value, &[key]));
    // Thoughts that a gateway forwards from Anthropic, with their signatures.
    let blocks = || value.get("thinking_blocks").and_then(Value::as_array).into_iter().flatten();
    let joined: Vec<&str> = blocks().filter_map(|b| json::str_at(b, &["thinking"])).collect();
    let signatures = blocks()
        .filter_map(|b| json::str_at(b, &["signature"]).or_else(|| json::str_at(b, &["data"])));
    let sealed_bytes = u32::try_from(signatures.map(str::len).sum::<usize>()).unwrap_or(u32::MAX);
    let text = text.map_or_else(|| joined.join("\n"), str::to_owned);
    let exists = !text.is_empty() || sealed_bytes > 0;
    exists.then(|| part(0, Body::Thinking { text: text.into(), sealed_bytes, reported: None }))
}

fn call(tool_call: &Value, calls: &mut CallMatcher) -> Body {
    let function =
        ["function", "custom"].iter().find_map(|key| tool_call.get(key)).unwrap_or(tool_call);
    let tool = json::str_at(function, &["name"]).unwrap_or_default();
    let call = calls.add(json::str_at(tool_call, &["id"]), tool);
    Body::ToolCall { call, tool: tool.into(), arguments: arguments(function) }
}

/// Returns the arguments as the model wrote them. Some programs store them parsed.
fn arguments(function: &Value) -> Box<str> {
    match function.get("arguments").or_else(|| function.get("input")) {
        Some(Value::String(text)) => text.as_str().into(),
        Some(Value::Null) | None => "".into(),
        Some(other) => other.to_string().into(),
    }
}

fn result(value: &Value, calls: &mut CallMatcher) -> Vec<Part> {
    let id = json::str_at(value, &["tool_call_id"]);
    let is_legacy = json::str_at(value, &["role"]) == Some("function");
    let name = json::str_at(value, &["name"]);
    let AnsweredCall { id: call, tool: known } = calls.answer(id.or(name.filter(|_| is_legacy)));
    let content = value.get("content").unwrap_or(&Value::Null);
    let text = if content.is_object() { content.to_string() } else { json::text_of(content) };
    let tool = name.map_or(known, Into::into);
    let others = content.as_array().into_iter().flatten().enumerate();
    let others = others.filter(|(_, b)| !b.is_string() && json::str_at(b, &["text"]).is_none());
    let others: Vec<Part> = others.map(|(idx, b)| part(idx, block(b, Some(&call)))).collect();
    let mut parts =
        vec![part(0, Body::ToolResult { call, tool, is_error: false, text: text.into() })];
    parts.extend(others);
    parts
}
