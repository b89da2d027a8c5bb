//! The content of single events: thoughts, tool calls and tool results.

use crate::formats::content::part;
use crate::formats::{content, json};
use crate::json::Value;
use crate::session::Part;

/// Returns the model's thoughts, unless its text repeats them.
pub(super) fn thoughts(value: &Value) -> Vec<Part> {
    let blocks = value.get("thinking_blocks").map(content::parts).unwrap_or_default();
    if !blocks.is_empty() {
        return blocks;
    }
    let texts = ["thought", "content"].iter().filter_map(|key| value.get(key)).map(json::text_of);
    let texts: String = texts.collect();
    let text = json::str_at(value, &["reasoning_content"]).unwrap_or_default().trim();
    let body = content::thought(text, 0).filter(|_| !texts.contains(text));
    body.map(|body| part(0, body)).into_iter().collect()
}

/// Converts a tool call.
pub(super) fn call(value: &Value) -> Part {
    let function = value.get("function").unwrap_or(value);
    let name = json::str_at(function, &["name"]).unwrap_or_default();
    let id = json::str_at(value, &["id"]);
    part(0, content::call(id, name, function.get("arguments")))
}

/// Returns the tool call of an action that does not record one.
pub(super) fn action_as_call(value: &Value) -> Part {
    let field = |key| json::str_at(value, &[key]);
    let body = content::call(
        field("tool_call_id"),
        field("tool_name").unwrap_or_default(),
        value.get("action"),
    );
    part(0, body)
}

/// Returns a tool's output, including content that the agent's own context added to it.
pub(super) fn observation(value: &Value) -> Option<Value> {
    let recorded = value.get("observation")?;
    let output = content::first(recorded, &["content", "output", "result"]);
    let mut output = match output {
        Some(output) => output.clone(),
        None => recorded.clone(),
    };
    if let (Value::Array(blocks), Some(Value::Array(more))) =
        (&mut output, value.get("extended_content"))
    {
        blocks.extend(more.iter().cloned());
    }
    Some(output)
}
