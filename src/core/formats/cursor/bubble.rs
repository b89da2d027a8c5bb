//! Reads bubbles, the messages of a Cursor conversation.

use crate::formats::content::part;
use crate::formats::{content, counts, json};
use crate::json::Value;
use crate::session::{Body, Part, Role, Usage};
use crate::units::{Millis, Tokens};

/// Capability that marks a compaction.
// From programs that read Cursor's databases. Cursor documents none of its numbers.
const COMPACTION: u64 = 22;
/// Status of a tool run without a useful result.
const FAILED: [&str; 3] = ["error", "cancelled", "rejected"];

/// Returns the role, or `None` if the value is not a bubble.
pub(super) fn role(bubble: &Value) -> Option<Role> {
    match json::u64_at(bubble, &["type"])? {
        1 => Some(Role::User),
        2 => Some(Role::Assistant),
        _ => None,
    }
}

pub(super) fn time(bubble: &Value) -> Option<Millis> {
    json::millis_at(bubble, &["createdAt"])
}

pub(super) fn is_compaction(bubble: &Value) -> bool {
    json::u64_at(bubble, &["capabilityType"]) == Some(COMPACTION)
}

pub(super) fn has_images(bubble: &Value) -> bool {
    let images = bubble.get("images").and_then(Value::as_array);
    images.is_some_and(|images| !images.is_empty())
}

/// Returns the parts: thoughts, text and call.
pub(super) fn parts(bubble: &Value) -> Vec<Part> {
    let text = json::str_at(bubble, &["text"]).unwrap_or_default();
    let mut parts = Vec::new();
    if role(bubble) == Some(Role::Assistant) {
        parts.extend(thought(bubble).map(|body| part(0, body)));
    }
    parts.extend(content::text_part(1, text));
    parts.extend(tool(bubble).map(|tool| part(2, call(tool))));
    parts
}

/// Returns the thought, a text with or without encrypted data.
fn thought(bubble: &Value) -> Option<Body> {
    let thinking = bubble.get("thinking")?;
    let text = thinking.as_str().or_else(|| json::str_at(thinking, &["text"]));
    let sealed = json::str_at(thinking, &["signature"]).map_or(0, str::len);
    content::thought(text.unwrap_or_default(), sealed)
}

fn tool(bubble: &Value) -> Option<&Value> {
    let tool = bubble.get("toolFormerData")?;
    (tool.is_object() && !name(tool).is_empty()).then_some(tool)
}

/// Returns the name of a tool, which older versions record as a number only.
fn name(tool: &Value) -> String {
    let name = content::first(tool, &["name", "tool"]);
    name.map(|name| content::text_or_json(name).into()).unwrap_or_default()
}

fn call(tool: &Value) -> Body {
    let has_content = |key: &&&str| {
        let value = tool.get(**key);
        value.is_some_and(|v| !v.is_null() && v.as_str() != Some(""))
    };
    let arguments = ["rawArgs", "params"].iter().find(has_content);
    content::call(
        json::str_at(tool, &["toolCallId"]),
        &name(tool),
        arguments.and_then(|key| tool.get(*key)),
    )
}

/// Returns the result of the bubble's call, or `None` while it runs.
pub(super) fn result(bubble: &Value) -> Option<Part> {
    let tool = tool(bubble)?;
    let status = json::str_at(tool, &["status"]).unwrap_or_default();
    let error = tool.get("error").filter(|error| !error.is_null());
    let is_error = FAILED.contains(&status) || error.is_some();
    let output =
        tool.get("result").filter(|output| !output.is_null()).or(error).map(content::text_or_json);
    let text = output.or_else(|| is_error.then(|| status.into()))?;
    let body = Body::ToolResult {
        call: json::str_at(tool, &["toolCallId"]).unwrap_or_default().into(),
        tool: name(tool).into(),
        is_error,
        text,
    };
    Some(part(2, body))
}

/// Returns the usage reported by the provider. Most bubbles record 0, which means unknown.
pub(super) fn usage(bubble: &Value) -> Option<Usage> {
    let tokens = bubble.get("tokenCount")?;
    let input = counts::tokens_at(tokens, &["inputTokens"]).filter(|n| *n > Tokens::ZERO)?;
    Some(Usage { input, output: counts::tokens_at(tokens, &["outputTokens"]), ..Usage::default() })
}
