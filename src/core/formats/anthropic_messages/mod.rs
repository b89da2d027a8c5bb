//! Anthropic Messages: a list of messages with content blocks, a request with `system` and `tools`, a request with its
//! answer, or JSON Lines of these.
//!
//! A list of plain texts is not evidence for this format. [`super::openai_chat`] reads it without loss.

mod read;
mod write;

pub(super) use write::{media_value, result_value};

use super::message_list::{self, DetectedList, Dialect, Writes};
use super::{Format, Probe, RecordedData, ResultPosition, json};
use crate::json::Value;
use crate::session::ModelVendor;

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "Anthropic Messages",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    write_other: Some(write::request),
    extension: Some("json"),
    has_anthropic_blocks: true,
    result_position: ResultPosition::StartOfNextMessage,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
    ],
    vendor: Some(ModelVendor::Anthropic),
    ..Format::READ_ONLY
};

/// Notation of these messages for reading and writing.
pub(super) const DIALECT: Dialect = Dialect {
    name: "anthropic_messages",
    is_request: true,
    title: message_list::title,
    body: read::body,
    messages: |value, calls| {
        message_list::refuse_empty(value)?;
        Ok(vec![read::message(value, calls)?])
    },
    call: message_list::call_of,
    writes: Some(Writes {
        edit: write::edit,
        written: write::written,
        result: Some(write::added_result),
    }),
    ..Dialect::READ_ONLY
};

/// Block types that only this API has.
const OWN_BLOCKS: [&str; 9] = [
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "document",
    "server_tool_use",
    "mcp_tool_use",
    "search_result",
    "container_upload",
];

fn detect(probe: &Probe) -> Option<String> {
    let look = message_list::detect_list(probe, &message_list::CHAT)?;
    if !look.messages.iter().all(|m| is_message(m)) {
        return None;
    }
    let evidence = own_block(&look).or_else(|| own_body(&look)).or_else(|| batch(probe))?;
    Some(format!("{} with {evidence}", look.how))
}

/// Returns whether only this API has such content blocks.
pub(super) fn is_own_block(block: &Value) -> bool {
    json::str_at(block, &["type"]).is_some_and(|kind| {
        OWN_BLOCKS.contains(&kind)
            || kind.ends_with("_tool_result")
            || (kind == "image" && block.get("source").is_some())
    })
}

fn is_message(message: &Value) -> bool {
    let is_known =
        matches!(json::str_at(message, &["role"]), Some("user" | "assistant" | "system"));
    let is_others = message.get("tool_calls").is_some() || message.get("function_call").is_some();
    is_known
        && !is_others
        && matches!(message.get("content"), Some(Value::String(_) | Value::Array(_)))
}

fn own_block(look: &DetectedList<'_>) -> Option<String> {
    let blocks = look.messages.iter().filter_map(|m| m.get("content")?.as_array()).flatten();
    let own = blocks.into_iter().find(|b| is_own_block(b))?;
    Some(format!("blocks of type {}", json::str_at(own, &["type"])?))
}

/// Returns the evidence that the file lists the requests of a batch in the notation of this API.
fn batch(probe: &Probe) -> Option<String> {
    let is_request =
        |v: &Value| v.get("custom_id").is_some() && json::at(v, &["params", "messages"]).is_some();
    let listed = probe.document().and_then(Value::as_array);
    let is_batch = listed.into_iter().flatten().any(is_request)
        || probe.records().iter().any(|r| is_request(&r.value));
    is_batch.then(|| "a `custom_id` and `params`".to_owned())
}

/// Returns the evidence from request members that only this API has.
fn own_body(look: &DetectedList<'_>) -> Option<String> {
    let has = |test: &dyn Fn(&Value) -> bool| look.bodies.iter().any(|body| test(body));
    let is_system =
        |body: &Value| body.get("system").is_some_and(|s| s.is_string() || s.is_array());
    let has_schema = |body: &Value| {
        let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
        tools.into_iter().any(|tool| tool.get("input_schema").is_some())
    };
    if has(&has_schema) {
        Some("tools that have an input_schema".to_owned())
    } else if has(&is_system) {
        Some("a system prompt".to_owned())
    } else {
        None
    }
}
