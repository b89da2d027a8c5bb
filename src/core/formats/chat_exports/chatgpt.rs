//! `ChatGPT`: `conversations.json` of its data export.
//!
//! - `mapping` is a tree of nodes, in no particular order. `current_node` is the last one that is shown.
//! - A message of the model with a `recipient` other than `all` calls that tool. Calls and results have no ids.
//! - The usage, the instructions and the tool definitions are not recorded, images only by name.

use super::{ExportedConversation, ExportedMessage, first_with, in_order_of_time};
use crate::formats::content::{self, part};
use crate::formats::read_log::ReadLog;
use crate::formats::{Format, Probe, RecordedData, json};
use crate::json::Value;
use crate::session::{Body, Draft, MediaKind, ModelVendor, Part, Role, Span};
use std::collections::HashMap;

pub(crate) const CHATGPT: Format = Format {
    name: "chatgpt_export",
    label: "ChatGPT export",
    detect,
    parse: |input, progress| super::parse(input, progress, CHATGPT.name, &["mapping"], read),
    recorded: &[RecordedData::Times],
    vendor: Some(ModelVendor::OpenAi),
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let mapping = first_with(probe, "mapping")?.get("mapping")?.as_object()?;
    let is_node = |node: &Value| node.get("children").is_some() && node.get("message").is_some();
    mapping
        .values()
        .next()
        .is_some_and(is_node)
        .then(|| "a `mapping` of messages with `children`".to_owned())
}

fn read(bytes: &[u8], span: &Span, members: &Value, log: &mut ReadLog) -> ExportedConversation {
    let field = |key| json::str_at(members, &[key]);
    let nodes = json::member(bytes, span, "mapping").and_then(|place| json::members(bytes, &place));
    let mut messages = Vec::new();
    let mut times = HashMap::new();
    for (id, span) in nodes.unwrap_or_default() {
        let Some(node) = json::parse_span(bytes, &span) else {
            log.notes.add(span.start, "this message is nested too deeply to be read");
            continue;
        };
        let message = node.get("message").unwrap_or(&Value::Null);
        if let Some(time) = json::millis_at(message, &["create_time"]) {
            times.insert(span.start, time.0);
        }
        let role = json::str_at(message, &["author", "role"]).unwrap_or("node");
        messages.push(ExportedMessage {
            id: Some(id.into()),
            parent: json::str_at(&node, &["parent"]).map(Into::into),
            label: role.to_owned(),
            drafts: draft(message, role).into_iter().collect(),
            model: json::str_at(message, &["metadata", "model_slug"])
                .filter(|_| role == "assistant")
                .map(str::to_owned),
            span,
        });
    }
    in_order_of_time(&mut messages, &times);
    ExportedConversation {
        title: field("title").unwrap_or_default().to_owned(),
        messages,
        current: field("current_node").map(Into::into),
        model: field("default_model_slug").map(str::to_owned),
        joins_answers: true,
    }
}

/// Reads a message. Returns `None` if it has no content that was sent.
fn draft(message: &Value, role: &str) -> Option<Draft> {
    let content = message.get("content")?;
    let recipient = json::str_at(message, &["recipient"]).filter(|name| *name != "all");
    let (role, parts) = match role {
        "assistant" => (Role::Assistant, answer(content, recipient)),
        "tool" => (Role::Tool, result(message, content)),
        "system" => (Role::System, parts(content, None)),
        _ => (Role::User, parts(content, None)),
    };
    let is_of_program = json::is_true(message, &["metadata", "is_user_system_message"])
        || json::is_true(message, &["metadata", "is_visually_hidden_from_conversation"]);
    (!parts.is_empty()).then(|| Draft {
        id: json::str_at(message, &["id"]).map(Into::into),
        time: json::millis_at(message, &["create_time"]),
        is_injected: role == Role::User && is_of_program,
        ..Draft::new(role, parts)
    })
}

/// Reads a message of the model: thoughts, a call of a tool, or a text.
fn answer(content: &Value, recipient: Option<&str>) -> Vec<Part> {
    match json::str_at(content, &["content_type"]) {
        Some("thoughts") => {
            let thoughts = content.get("thoughts").and_then(Value::as_array).into_iter().flatten();
            let texts = thoughts.filter_map(|thought| {
                let text = json::str_at(thought, &["content"]).filter(|text| !text.is_empty());
                text.or_else(|| json::str_at(thought, &["summary"]))
            });
            let text = texts.collect::<Vec<_>>().join("\n");
            content::thought(&text, 0).map(|body| part(0, body)).into_iter().collect()
        }
        // The duration of the thoughts.
        Some("reasoning_recap") => Vec::new(),
        _ => match recipient {
            Some(tool) => {
                let text = text(content);
                let arguments = Value::from(text);
                vec![part(0, content::call(None, tool, Some(&arguments)))]
            }
            None => parts(content, None),
        },
    }
}

/// Reads the result of a tool.
fn result(message: &Value, content: &Value) -> Vec<Part> {
    let name = json::str_at(message, &["author", "name"]);
    let is_error = json::str_at(content, &["content_type"]) == Some("system_error");
    let text = Value::from(text(content));
    let mut found = content::result(0, (None, name), is_error, &text);
    let media = parts(content, Some("")).into_iter();
    found.extend(media.filter(|part| matches!(part.body, Body::Media { .. })));
    found
}

/// Returns the text of a content of any type.
fn text(content: &Value) -> String {
    let field = |key| json::str_at(content, &[key]);
    let listed = content.get("parts").and_then(Value::as_array);
    if let Some(listed) = listed {
        let texts = listed
            .iter()
            .filter_map(|part| part.as_str().or_else(|| json::str_at(part, &["text"])));
        return texts.collect::<Vec<_>>().join("\n");
    }
    if json::str_at(content, &["content_type"]) == Some("user_editable_context") {
        let texts = ["user_profile", "user_instructions"].map(|key| field(key).unwrap_or_default());
        return texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    }
    let title = field("title").map(|title| format!("{title}\n")).unwrap_or_default();
    let keys = ["text", "result", "content", "model_set_context"];
    let text = keys.into_iter().find_map(field).unwrap_or_default();
    if text.is_empty() { String::new() } else { format!("{title}{text}") }
}

/// Returns the texts and media of a content. `within` is the call whose result contains them.
fn parts(content: &Value, within: Option<&str>) -> Vec<Part> {
    let Some(listed) = content.get("parts").and_then(Value::as_array) else {
        return content::text_part(0, &text(content)).into_iter().collect();
    };
    let each = |(idx, value): (usize, &Value)| {
        let text = value.as_str().or_else(|| json::str_at(value, &["text"]));
        match text {
            Some(text) => content::text_part(idx, text),
            None => media(value, within).map(|body| part(idx, body)),
        }
    };
    listed.iter().enumerate().filter_map(each).collect()
}

/// Reads a reference to an image or a recording, whose data is another file of the export.
fn media(value: &Value, within: Option<&str>) -> Option<Body> {
    let kind = json::str_at(value, &["content_type"])?;
    let mime = match kind {
        "image_asset_pointer" => "image/*",
        _ if kind.contains("audio") => "audio/*",
        _ => return Some(content::opaque(value)),
    };
    let size = |key| json::u64_at(value, &[key]);
    let edge = |key| size(key).and_then(|edge| u32::try_from(edge).ok()).filter(|edge| *edge > 0);
    let body = content::reference(mime, size("size_bytes").unwrap_or_default(), within);
    Some(match body {
        Body::Media { media, mime, bytes, detail, within, .. } => {
            let pixels = edge("width").zip(edge("height")).filter(|_| media == MediaKind::Image);
            Body::Media { media, mime, bytes, pixels, detail, within }
        }
        other => other,
    })
}
