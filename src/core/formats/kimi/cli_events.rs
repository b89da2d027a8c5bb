//! Converts events of Kimi CLI's `wire.jsonl` (protocol 1.3 and earlier) to events of its successor, Kimi Code.
//!
//! - An event is a `message` with a `type` and a `payload`. Sub-agent events are wrapped in `SubagentEvent`s.
//! - The model receives the tool's message before the tool's output.
//! - A compaction keeps the last two messages and everything after them. Its summary is not recorded in this file.

use crate::formats::{content, json};
use crate::json::{Value, json};

/// Number of user and model messages that a compaction keeps.
// As in Kimi CLI, `max_preserved_messages` of `SimpleCompaction` (`kimi_cli/soul/compaction.py`).
pub(super) const KEPT_BY_COMPACTION: usize = 2;

/// Event types that add nothing to the context.
const NOT_CONTEXT: [&str; 15] = [
    "TurnEnd",
    "StepInterrupted",
    "StepRetry",
    "CompactionBegin",
    "HookTriggered",
    "HookResolved",
    "MCPLoadingBegin",
    "MCPLoadingEnd",
    "ApprovalRequest",
    "ApprovalResponse",
    "ApprovalRequestResolved",
    "QuestionRequest",
    "ToolCallRequest",
    "PlanDisplay",
    "CompactionEnd",
];

/// An event of a conversation.
pub(super) struct CliEvent<'a> {
    /// The tool call that started the sub-agent that produced the event.
    pub(super) agent: Option<&'a str>,
    /// The sub-agent's type, if recorded.
    pub(super) agent_type: Option<&'a str>,
    /// The event type.
    pub(super) kind: &'a str,
    payload: &'a Value,
}

impl<'a> CliEvent<'a> {
    /// Returns the event of a record, or `None` if the record is not an event.
    pub(super) fn of(record: &'a Value) -> Option<Self> {
        let mut event = Self::enveloped(record.get("message")?)?;
        while event.kind == "SubagentEvent" {
            let field = |key| json::str_at(event.payload, &[key]);
            let agent = field("parent_tool_call_id").or_else(|| field("task_tool_call_id"));
            event = Self {
                agent: agent.or_else(|| field("agent_id")).or(Some("")),
                agent_type: field("subagent_type"),
                ..Self::enveloped(event.payload.get("event")?)?
            };
        }
        Some(event)
    }

    fn enveloped(envelope: &'a Value) -> Option<Self> {
        Some(Self {
            agent: None,
            agent_type: None,
            kind: json::str_at(envelope, &["type"])?,
            payload: envelope.get("payload").filter(|p| p.is_object())?,
        })
    }

    /// Converts the event to Kimi Code's form. `step` is the number of steps so far. Returns `None` for an unknown
    /// type.
    pub(super) fn converted(&self, time: Option<&Value>, step: usize) -> Option<Value> {
        let payload = self.payload;
        let step = step.to_string();
        let in_loop = |event: Value| json!({"type": "context.append_loop_event", "event": event, "time": time});
        Some(match self.kind {
            "TurnBegin" | "SteerInput" => json!({
                "type": "context.append_message",
                "message": {"role": "user", "content": payload.get("user_input")},
                "time": time,
            }),
            "StepBegin" => in_loop(json!({"type": "step.begin", "uuid": step})),
            "ContentPart" => {
                in_loop(json!({"type": "content.part", "stepUuid": step, "part": payload}))
            }
            "ToolCall" => in_loop(json!({
                "type": "tool.call",
                "stepUuid": step,
                "toolCallId": payload.get("id"),
                "name": json::at(payload, &["function", "name"]),
                "args": json::at(payload, &["function", "arguments"]),
            })),
            "ToolResult" => in_loop(json!({
                "type": "tool.result",
                "toolCallId": payload.get("tool_call_id"),
                "result": result(payload),
            })),
            "StatusUpdate" => match payload.get("token_usage").filter(|u| u.is_object()) {
                Some(usage) => in_loop(json!({
                    "type": "step.end",
                    "usage": {
                        "inputOther": usage.get("input_other"),
                        "output": usage.get("output"),
                        "inputCacheRead": usage.get("input_cache_read"),
                        "inputCacheCreation": usage.get("input_cache_creation"),
                    },
                    "window": payload.get("max_context_tokens"),
                })),
                None => json!({"type": "status"}),
            },
            kind if NOT_CONTEXT.contains(&kind) => json!({"type": kind}),
            _ => return None,
        })
    }
}

/// Returns a tool's result as the model receives it.
fn result(payload: &Value) -> Value {
    // Early logs store the result under the name of its outcome.
    let value = content::first(payload, &["return_value", "result"]).unwrap_or(&Value::Null);
    let is_error = json::is_true(value, &["is_error"]);
    let mut output = match value.get("output").unwrap_or(&Value::Null) {
        Value::Array(parts) => parts.clone(),
        Value::String(text) if !text.is_empty() => vec![json!({"type": "text", "text": text})],
        _ => Vec::new(),
    };
    let message = json::str_at(value, &["message"]).filter(|message| !message.is_empty());
    let message = match (message, is_error) {
        (Some(message), true) => Some(format!("<system>ERROR: {message}</system>")),
        (Some(message), false) => Some(format!("<system>{message}</system>")),
        (None, _) => None,
    };
    let message = message.map(|text| json!({"type": "text", "text": text}));
    output.splice(0..0, message);
    json!({"output": output, "isError": is_error})
}
