//! Claude.ai: `conversations.json` of its data export, or a conversation as the website loads it.
//!
//! - An answer contains the results of its tool calls. What follows a result is another call of the model.
//! - Newer exports name the parent of each message (`parent_message_uuid`).
//! - Files are recorded by name, those that the service converted to text with their text (`attachments`).
//! - The usage, the instructions and the tool definitions are not recorded, and in data exports not the model.

use super::{ExportedConversation, ExportedMessage, first_with};
use crate::formats::content;
use crate::formats::read_log::ReadLog;
use crate::formats::{Format, Probe, RecordedData, json};
use crate::json::Value;
use crate::session::{Body, Draft, ModelVendor, Part, Role, Span};

pub(crate) const CLAUDE_AI: Format = Format {
    name: "claude_ai_export",
    label: "Claude.ai export",
    detect,
    parse: |input, progress| {
        super::parse(input, progress, CLAUDE_AI.name, &["chat_messages"], read)
    },
    recorded: &[RecordedData::Times],
    vendor: Some(ModelVendor::Anthropic),
    has_anthropic_blocks: true,
    ..Format::READ_ONLY
};

/// Parent of the first message of a conversation.
const NO_PARENT: &str = "00000000-0000-4000-8000-000000000000";

fn detect(probe: &Probe) -> Option<String> {
    let messages = first_with(probe, "chat_messages")?.get("chat_messages")?.as_array()?;
    let is_message = |message: &Value| json::str_at(message, &["sender"]).is_some();
    messages.iter().all(is_message).then(|| "`chat_messages` with a `sender`".to_owned())
}

fn read(bytes: &[u8], span: &Span, members: &Value, log: &mut ReadLog) -> ExportedConversation {
    let field = |key| json::str_at(members, &[key]);
    let list = json::member(bytes, span, "chat_messages");
    let spans = list.and_then(|list| json::elements(bytes, &list)).unwrap_or_default();
    let mut messages = Vec::with_capacity(spans.len());
    for span in spans {
        let Some(message) = json::parse_span(bytes, &span) else {
            log.notes.add(span.start, "this message is nested too deeply to be read");
            continue;
        };
        if message.get("files").and_then(Value::as_array).is_some_and(|files| !files.is_empty()) {
            log.notes.once(span.start, "files are recorded by name only and were left out");
        }
        let names_parent = message.get("parent_message_uuid").is_some();
        let id = json::str_at(&message, &["uuid"]).filter(|_| names_parent);
        let parent = json::str_at(&message, &["parent_message_uuid"]);
        let sender = json::str_at(&message, &["sender"]).unwrap_or("other");
        messages.push(ExportedMessage {
            id: id.map(Into::into),
            parent: parent.filter(|parent| *parent != NO_PARENT).map(Into::into),
            label: sender.to_owned(),
            drafts: drafts(&message, sender),
            model: None,
            span,
        });
    }
    ExportedConversation {
        title: field("name").unwrap_or_default().to_owned(),
        messages,
        current: field("current_leaf_message_uuid").map(Into::into),
        model: field("model").map(str::to_owned),
        joins_answers: false,
    }
}

/// Reads a message, which may contain results of tools.
fn drafts(message: &Value, sender: &str) -> Vec<Draft> {
    let role = if sender == "assistant" { Role::Assistant } else { Role::User };
    let mut parts = attachments(message);
    let blocks = message.get("content").and_then(Value::as_array);
    let is_sent = |block: &&Value| {
        let kind = json::str_at(block, &["type"]).unwrap_or_default();
        matches!(kind, "text" | "thinking" | "tool_use" | "tool_result" | "image" | "document")
    };
    let listed = blocks.into_iter().flatten().enumerate().filter(|(_, block)| is_sent(block));
    let own: Vec<Part> = listed.flat_map(|(idx, block)| content::block(idx, block)).collect();
    if own.is_empty() {
        let text = json::str_at(message, &["text"]).unwrap_or_default();
        parts.extend(content::text_part(0, text));
    } else {
        parts.extend(own);
    }
    let mut drafts: Vec<Draft> = Vec::new();
    for part in parts {
        let is_result =
            matches!(part.body, Body::ToolResult { .. } | Body::Media { within: Some(_), .. });
        let role = if is_result { Role::Tool } else { role };
        match drafts.last_mut().filter(|last| last.role == role) {
            Some(last) => last.parts.push(part),
            None => drafts.push(Draft {
                id: json::str_at(message, &["uuid"]).map(Into::into),
                time: json::millis_at(message, &["created_at"]),
                ..Draft::new(role, vec![part])
            }),
        }
    }
    drafts
}

/// Returns the texts of attached files.
fn attachments(message: &Value) -> Vec<Part> {
    let listed = message.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let texts = listed.filter_map(|file| json::str_at(file, &["extracted_content"]));
    texts.enumerate().filter_map(|(idx, text)| content::text_part(idx, text)).collect()
}
