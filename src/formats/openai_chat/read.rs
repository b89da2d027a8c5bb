//! What a message says.

use crate::formats::json;
use crate::formats::message_list::{Calls, of_block, opaque, part, time_of, tool_definitions};
use crate::session::{Body, Draft, Part, Role};
use serde_json::Value;

/// The tools of a request, those of the old kind included.
pub(in crate::formats) fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    tool_definitions(body, &["tools", "functions"])
        .map(|draft| ("tools", draft))
        .into_iter()
        .collect()
}

/// Reads a message.
pub(in crate::formats) fn message(value: &Value, calls: &mut Calls) -> Result<Draft, String> {
    let (role, parts) = match json::str_at(value, &["role"]) {
        Some("system" | "developer") => (Role::System, content(value)),
        Some("user") => (Role::User, content(value)),
        Some("assistant") => (Role::Assistant, answer(value, calls)),
        Some("tool" | "function") => (Role::Tool, result(value, calls)),
        Some(other) => {
            return Err(format!(
                "a message of the unknown role `{}` is kept, but not sent to the model",
                json::quoted(other)
            ));
        }
        None => return Err("a record without a role is kept, but not sent to the model".to_owned()),
    };
    let mut draft = Draft::new(role, parts);
    draft.id = json::str_at(value, &["id"]).map(Into::into);
    draft.time = time_of(value);
    // What came of a command that an agent without tools of its own wrote as text (mini-SWE-agent).
    let is_observation = ["raw_output", "returncode"]
        .iter()
        .any(|key| json::at(value, &["extra", key]).is_some());
    draft.is_injected = draft.role == Role::User && is_observation;
    Ok(draft)
}

/// Texts, images and the like. An empty text is no part.
fn content(value: &Value) -> Vec<Part> {
    match value.get("content") {
        Some(Value::String(text)) if !text.is_empty() => {
            vec![part(0, Body::Text(text.as_str().into()))]
        }
        Some(Value::Array(blocks)) => blocks
            .iter()
            .enumerate()
            .map(|(idx, b)| part(idx, block(b, None)))
            .collect(),
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
    text.map(|text| Body::Text(text.into()))
        .or_else(media)
        .unwrap_or_else(|| opaque(block))
}

/// What the model thought, said and asked for, in this order.
fn answer(value: &Value, calls: &mut Calls) -> Vec<Part> {
    let mut parts: Vec<Part> = thinking(value).into_iter().collect();
    parts.extend(content(value));
    if let Some(refusal) = json::str_at(value, &["refusal"]).filter(|text| !text.is_empty()) {
        // It counts as a block after those of the content.
        let n_blocks = value
            .get("content")
            .and_then(Value::as_array)
            .map_or(1, Vec::len);
        parts.push(part(n_blocks, Body::Text(refusal.into())));
    }
    let listed = value
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    parts.extend(
        listed
            .enumerate()
            .map(|(idx, asked)| part(idx, call(asked, calls))),
    );
    if let Some(asked) = value.get("function_call").filter(|asked| asked.is_object()) {
        // The old kind has no ids: its result names the function.
        let tool = json::str_at(asked, &["name"]).unwrap_or_default();
        let call = calls.make(Some(tool), tool);
        parts.push(part(
            0,
            Body::ToolCall {
                call,
                tool: tool.into(),
                arguments: arguments(asked),
            },
        ));
    }
    parts
}

fn thinking(value: &Value) -> Option<Part> {
    let text = ["reasoning_content", "reasoning"]
        .iter()
        .find_map(|key| json::str_at(value, &[key]));
    // Thoughts that a gateway passes on from Anthropic, with their signatures.
    let blocks = || {
        value
            .get("thinking_blocks")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let joined: Vec<&str> = blocks()
        .filter_map(|b| json::str_at(b, &["thinking"]))
        .collect();
    let sealed = blocks()
        .filter_map(|b| json::str_at(b, &["signature"]).or_else(|| json::str_at(b, &["data"])));
    let sealed_bytes = u32::try_from(sealed.map(str::len).sum::<usize>()).unwrap_or(u32::MAX);
    let text = text.map_or_else(|| joined.join("\n"), str::to_owned);
    let is_there = !text.is_empty() || sealed_bytes > 0;
    is_there.then(|| {
        part(
            0,
            Body::Thinking {
                text: text.into(),
                sealed_bytes,
                reported: None,
            },
        )
    })
}

fn call(asked: &Value, calls: &mut Calls) -> Body {
    let function = ["function", "custom"]
        .iter()
        .find_map(|key| asked.get(key))
        .unwrap_or(asked);
    let tool = json::str_at(function, &["name"]).unwrap_or_default();
    let call = calls.make(json::str_at(asked, &["id"]), tool);
    Body::ToolCall {
        call,
        tool: tool.into(),
        arguments: arguments(function),
    }
}

/// The arguments as the model wrote them; some programs parse them.
fn arguments(function: &Value) -> Box<str> {
    match function.get("arguments").or_else(|| function.get("input")) {
        Some(Value::String(text)) => text.as_str().into(),
        Some(Value::Null) | None => "".into(),
        Some(other) => other.to_string().into(),
    }
}

fn result(value: &Value, calls: &mut Calls) -> Vec<Part> {
    let id = json::str_at(value, &["tool_call_id"]);
    let is_old = json::str_at(value, &["role"]) == Some("function");
    let name = json::str_at(value, &["name"]);
    let (call, known) = calls.answer(id.or(name.filter(|_| is_old)));
    let content = value.get("content").unwrap_or(&Value::Null);
    let text = if content.is_object() {
        content.to_string()
    } else {
        json::text_of(content)
    };
    let tool = name.map_or(known, Into::into);
    let others = content.as_array().into_iter().flatten().enumerate();
    let others = others.filter(|(_, b)| !b.is_string() && json::str_at(b, &["text"]).is_none());
    let others: Vec<Part> = others
        .map(|(idx, b)| part(idx, block(b, Some(&call))))
        .collect();
    let mut parts = vec![part(
        0,
        Body::ToolResult {
            call,
            tool,
            is_error: false,
            text: text.into(),
        },
    )];
    parts.extend(others);
    parts
}
