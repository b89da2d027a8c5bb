//! Requests of the Converse API, lists of its messages (also those that Strands Agents dumps), and requests with their
//! answer.

use super::message;
use crate::formats::content::part;
use crate::formats::message_list::{self, Dialect};
use crate::formats::{Format, Probe, RecordedData, json};
use crate::json::Value;
use crate::session::{Body, CallDraft, Draft, Role};

pub(crate) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "Bedrock Converse",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
    ],
    ..Format::READ_ONLY
};

/// Notation of these messages.
const DIALECT: Dialect = Dialect {
    name: "bedrock_converse",
    title: message_list::title,
    body,
    messages: |value, calls| {
        message_list::refuse_empty(value)?;
        Ok(vec![message::read(value, calls)?])
    },
    call,
    ..Dialect::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let list = message_list::detect_list(probe, &message_list::CHAT)?;
    let is_match = list.messages.iter().all(|m| message::is_one(m))
        && list.messages.iter().any(|m| message::has_blocks(m));
    is_match.then(|| format!("{} with blocks named by their only member", list.how))
}

/// Returns the tools and the system prompt of a request.
fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let tools = json::at(body, &["toolConfig", "tools"]).and_then(Value::as_array);
    let tools = tools.into_iter().flatten().enumerate().filter_map(|(idx, tool)| {
        let tool = tool.get("toolSpec")?;
        let name = json::str_at(tool, &["name"]).unwrap_or_default();
        Some(part(idx, Body::ToolDefinition { tool: name.into(), json: tool.to_string().into() }))
    });
    let tools: Vec<_> = tools.collect();
    let system = body.get("system").map(message::parts).unwrap_or_default();
    [("tools", tools), ("system", system)]
        .into_iter()
        .filter(|(_, parts)| !parts.is_empty())
        .map(|(kind, parts)| (kind, Draft::new(Role::System, parts)))
        .collect()
}

/// Returns the call that a message of Strands Agents or a response reports.
fn call(value: &Value) -> Option<CallDraft> {
    let inner = value.get("metadata").unwrap_or(value);
    Some(CallDraft {
        model: json::str_at(value, &["modelId"]).map(str::to_owned),
        usage: Some(message::usage(inner.get("usage")?)?),
        time: message_list::time_of(value),
        ..CallDraft::default()
    })
}
