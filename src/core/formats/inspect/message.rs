//! Reads messages and usage.

use crate::formats::content::{self, is_of_result, of_block, opaque, part};
use crate::formats::{counts, json};
use crate::json::Value;
use crate::session::{Body, Draft, Part, Role, Span, Usage};
use crate::units::Tokens;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Reads a message. Returns `None` if its role is unknown.
pub(super) fn draft(value: &Value, span: &Span) -> Option<Draft> {
    let content = value.get("content").unwrap_or(&Value::Null);
    let (role, parts) = match json::str_at(value, &["role"])? {
        "system" => (Role::System, blocks(content)),
        "user" => (Role::User, blocks(content)),
        "assistant" => (Role::Assistant, answer(value, content)),
        "tool" => (Role::Tool, result(value, content)),
        _ => return None,
    };
    let id = json::str_at(value, &["id"]).map(Into::into);
    Some(Draft { id, raw: vec![span.clone()], ..Draft::new(role, parts) })
}

/// Returns a key of a message that stays the same while the program resends it.
pub(super) fn key(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    for name in ["id", "role", "tool_call_id"] {
        json::str_at(value, &[name]).hash(&mut hasher);
    }
    value.get("content").map(Value::to_string).hash(&mut hasher);
    let calls = value.get("tool_calls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        json::str_at(call, &["function"]).hash(&mut hasher);
        call.get("arguments").map(Value::to_string).hash(&mut hasher);
    }
    hasher.finish()
}

fn blocks(content: &Value) -> Vec<Part> {
    match content {
        Value::Array(listed) => {
            listed.iter().enumerate().flat_map(|(idx, block)| block_parts(idx, block)).collect()
        }
        text => content::parts(text),
    }
}

fn block_parts(idx: usize, block: &Value) -> Vec<Part> {
    let field = |key| json::str_at(block, &[key]);
    match field("type") {
        Some("reasoning") if json::is_true(block, &["redacted"]) => {
            let sealed = field("reasoning").map_or(0, str::len);
            let body = content::thought(field("summary").unwrap_or_default(), sealed);
            body.map(|body| part(idx, body)).into_iter().collect()
        }
        // A tool that the provider executed, with its result.
        Some("tool_use") => {
            let (id, name) = (field("id"), field("name").unwrap_or_default());
            let output = field("error").or_else(|| field("result")).unwrap_or_default();
            let is_error = field("error").is_some();
            let mut parts = vec![part(idx, content::call(id, name, block.get("arguments")))];
            parts.extend(content::result(idx, (id, Some(name)), is_error, &output.into()));
            parts
        }
        _ => content::block(idx, block),
    }
}

fn answer(value: &Value, content: &Value) -> Vec<Part> {
    let mut parts = blocks(content);
    let calls = value.get("tool_calls").and_then(Value::as_array);
    for (idx, call) in calls.into_iter().flatten().enumerate() {
        let field = |key| json::str_at(call, &[key]);
        let name = field("function").unwrap_or_default();
        parts.push(part(idx, content::call(field("id"), name, call.get("arguments"))));
    }
    parts
}

/// Returns the result of a tool. Providers are sent the message of an error instead of the output.
fn result(value: &Value, content: &Value) -> Vec<Part> {
    let field = |key| json::str_at(value, &[key]);
    let names = (field("tool_call_id"), field("function"));
    if let Some(error) = json::str_at(value, &["error", "message"]) {
        return content::result(0, names, true, &error.into());
    }
    let text = Value::from(json::text_of(content));
    let mut parts = content::result(0, names, false, &text);
    let listed = content.as_array().into_iter().flatten().enumerate();
    let others = listed.filter(|(_, block)| json::str_at(block, &["text"]).is_none());
    parts.extend(others.map(|(idx, block)| {
        let media = of_block(block).map(|media| media.body(names.0));
        part(idx, media.unwrap_or_else(|| opaque(block)))
    }));
    debug_assert!(parts.iter().take(1).all(is_of_result), "a result comes first");
    parts
}

/// Returns the tools of a request as definitions.
pub(super) fn tools(listed: &Value, span: &Span) -> Option<Draft> {
    let tools = listed.as_array()?.iter().enumerate();
    let definition = |(idx, tool): (usize, &Value)| {
        let name = json::str_at(tool, &["name"]).unwrap_or_default();
        part(idx, Body::ToolDefinition { tool: name.into(), json: tool.to_string().into() })
    };
    let parts: Vec<Part> = tools.map(definition).collect();
    let draft = Draft { raw: vec![span.clone()], ..Draft::new(Role::System, parts) };
    (!draft.parts.is_empty()).then_some(draft)
}

/// Reads usage. The input excludes cached tokens.
pub(super) fn usage(usage: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(usage, &[key]);
    let (read, write) = (count("input_tokens_cache_read"), count("input_tokens_cache_write"));
    let input = count("input_tokens")? + read.unwrap_or_default() + write.unwrap_or_default();
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("output_tokens"),
        reasoning: count("reasoning_tokens"),
        ..Usage::default()
    })
}
