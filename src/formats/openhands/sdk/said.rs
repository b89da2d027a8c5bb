//! What single events hold: thoughts, calls, and what tools answered.

use crate::formats::message_list::part;
use crate::formats::{content, json};
use crate::session::Part;
use serde_json::Value;

/// What the model thought, unless its text says the same.
pub(super) fn thoughts(value: &Value) -> Vec<Part> {
    let blocks = value
        .get("thinking_blocks")
        .map(content::parts)
        .unwrap_or_default();
    if !blocks.is_empty() {
        return blocks;
    }
    let said = ["thought", "content"]
        .iter()
        .filter_map(|key| value.get(key))
        .map(json::text_of);
    let said: String = said.collect();
    let text = json::str_at(value, &["reasoning_content"])
        .unwrap_or_default()
        .trim();
    let body = content::thought(text, 0).filter(|_| !said.contains(text));
    body.map(|body| part(0, body)).into_iter().collect()
}

/// A call.
pub(super) fn call(value: &Value) -> Part {
    let function = value.get("function").unwrap_or(value);
    let name = json::str_at(function, &["name"]).unwrap_or_default();
    let id = json::str_at(value, &["id"]);
    part(0, content::call(id, name, function.get("arguments")))
}

/// The call of an action that does not keep it.
pub(super) fn own_call(value: &Value) -> Part {
    let says = |key| json::str_at(value, &[key]);
    let body = content::call(
        says("tool_call_id"),
        says("tool_name").unwrap_or_default(),
        value.get("action"),
    );
    part(0, body)
}

/// What a tool answered, with what the agent's own context added to it.
pub(super) fn observed(value: &Value) -> Option<Value> {
    let observation = value.get("observation")?;
    let said = content::first(observation, &["content", "output", "result"]);
    let mut said = match said {
        Some(said) => said.clone(),
        None => observation.clone(),
    };
    if let (Value::Array(blocks), Some(Value::Array(more))) =
        (&mut said, value.get("extended_content"))
    {
        blocks.extend(more.iter().cloned());
    }
    Some(said)
}
