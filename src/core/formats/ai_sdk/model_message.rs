//! Reads a `ModelMessage`: a role, and a text or typed blocks.

use crate::formats::content::{self, CallMatcher, empty_content};
use crate::formats::json;
use crate::formats::message_list::time_of;
use crate::formats::notes::unknown_role;
use crate::json::Value;
use crate::session::{Draft, Part, Role};

/// Result of a call that the user denied without a reason.
// As in ai 7.0.173, `src/ui/convert-to-model-messages.ts`.
const DENIED: &str = "Tool call execution denied.";

/// Returns whether a value may be a `ModelMessage`.
pub(super) fn is_one(message: &Value) -> bool {
    let is_role = json::str_at(message, &["role"])
        .is_some_and(|role| ["system", "user", "assistant", "tool"].contains(&role));
    let is_content = match message.get("content") {
        Some(Value::String(_)) => true,
        Some(Value::Array(blocks)) => blocks.iter().all(|b| json::str_at(b, &["type"]).is_some()),
        _ => false,
    };
    is_role && is_content && message.get("tool_calls").is_none()
}

/// Returns whether only the AI SDK has such a block.
pub(super) fn is_own_block(block: &Value) -> bool {
    let has = |key| block.get(key).is_some();
    match json::str_at(block, &["type"]) {
        Some("tool-call" | "tool-result") => has("toolCallId") && has("toolName"),
        Some("tool-approval-request" | "tool-approval-response") => has("approvalId"),
        Some("file") => has("data") && (has("mediaType") || has("mimeType")),
        Some("reasoning") => json::str_at(block, &["text"]).is_some(),
        _ => false,
    }
}

/// Reads a message.
pub(super) fn message(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let role = role(value)?;
    let mut parts = match value.get("content") {
        Some(Value::Array(blocks)) => {
            blocks.iter().enumerate().flat_map(|(idx, block)| block_parts(idx, block)).collect()
        }
        content => content.map(content::parts).unwrap_or_default(),
    };
    calls.join(&mut parts);
    let mut draft = Draft::new(role, parts);
    draft.id = json::str_at(value, &["id"]).map(Into::into);
    draft.time = time_of(value);
    draft.empty = empty_content(value);
    Ok(draft)
}

/// Returns the role of a message.
pub(super) fn role(value: &Value) -> Result<Role, String> {
    match json::str_at(value, &["role"]) {
        Some("system") => Ok(Role::System),
        Some("user") => Ok(Role::User),
        Some("assistant") => Ok(Role::Assistant),
        Some("tool") => Ok(Role::Tool),
        Some(other) => Err(unknown_role(other)),
        None => Err("a record without a role is kept, but not sent to the model".to_owned()),
    }
}

/// Returns the parts of a block.
pub(super) fn block_parts(idx: usize, block: &Value) -> Vec<Part> {
    let field = |key| json::str_at(block, &[key]);
    match field("type") {
        Some("tool-result") => {
            let output = content::first(block, &["output", "result"]).unwrap_or(&Value::Null);
            let (text, is_error) = sent_output(output);
            let is_error = is_error || json::is_true(block, &["isError"]);
            content::result(idx, (field("toolCallId"), field("toolName")), is_error, &text)
        }
        Some("tool-approval-request" | "tool-approval-response") => Vec::new(),
        _ => content::block(idx, block),
    }
}

/// Returns the output of a tool as it is sent, and whether it is an error.
fn sent_output(output: &Value) -> (Value, bool) {
    let value = output.get("value").unwrap_or(&Value::Null);
    match json::str_at(output, &["type"]) {
        Some("text" | "content") => (value.clone(), false),
        Some("json") => (value.to_string().into(), false),
        Some("error-text") => (value.clone(), true),
        Some("error-json") => (value.to_string().into(), true),
        Some("execution-denied") => (denial(output), true),
        // The result itself, as in version 4.
        _ => (plain_output(output), false),
    }
}

/// Returns the text sent for a denied call.
pub(super) fn denial(with_reason: &Value) -> Value {
    json::str_at(with_reason, &["reason"]).unwrap_or(DENIED).into()
}

/// Returns what is sent for the output of a tool without a conversion of its own: a text unchanged, all else as JSON.
pub(super) fn plain_output(output: &Value) -> Value {
    if output.is_string() { output.clone() } else { output.to_string().into() }
}
