//! Writes a session of another program as one of Pi.

use crate::formats::content::{Media, MediaSource};
use crate::formats::handoff::{
    AnswerBlock, Handoff, HandoffBlock, HandoffContent, JsonLines, has_calls,
};
use crate::formats::json::rfc3339_of;
use crate::formats::resume::{NO_SESSION, provider_of};
use crate::json::{Value, json};
use crate::session::{Managed, MediaKind, Session};
use crate::units::Millis;
use std::collections::HashSet;

/// Writes the entries of a new session, whose id, time and folder are set later.
pub(super) fn write(session: &Session, managed: &Managed) -> Vec<u8> {
    let mut handoff = Handoff::new(session, managed);
    let messages = std::mem::take(&mut handoff.messages);
    let start = rfc3339_of(messages.first().map_or(Millis(0), |message| message.time));
    let mut writer = EntryWriter {
        handoff,
        lines: JsonLines::default(),
        parent: Value::Null,
        used: HashSet::new(),
    };
    let project = writer.handoff.project.as_deref().unwrap_or_default();
    writer.lines.push(&json!({
        "type": "session", "version": 3, "id": NO_SESSION, "timestamp": start, "cwd": project,
    }));
    for message in messages {
        match message.content {
            HandoffContent::User(blocks) => {
                let content: Vec<Value> = blocks.into_iter().map(block_value).collect();
                let time = message.time.0;
                let value = json!({"role": "user", "content": content, "timestamp": time});
                writer.message(message.time, &value);
            }
            HandoffContent::Answer(blocks) => writer.answer(message.time, blocks),
        }
    }
    if let Some(title) = writer.handoff.title.take() {
        let time = writer.handoff.end();
        writer.entry(time, "session_info", "name", &title.into());
    }
    writer.lines.into_bytes()
}

struct EntryWriter {
    handoff: Handoff,
    lines: JsonLines,
    /// Id of the entry before.
    parent: Value,
    used: HashSet<String>,
}

impl EntryWriter {
    /// Writes an answer, and a message for the result of each call.
    fn answer(&mut self, time: Millis, blocks: Vec<AnswerBlock>) {
        let stop = if has_calls(&blocks) { "toolUse" } else { "stop" };
        let (mut content, mut results) = (Vec::new(), Vec::new());
        for block in blocks {
            match block {
                AnswerBlock::Text(text) => content.push(text_value(&text)),
                AnswerBlock::Call(call) => {
                    let (id, name, arguments) = (&call.id, &call.tool, &call.arguments);
                    content.push(json!({
                        "type": "toolCall", "id": id, "name": name, "arguments": arguments,
                    }));
                    let (id, name) = (id.clone(), name.clone());
                    results.push((id, name, call.is_error, call.into_result()));
                }
            }
        }
        let model = self.handoff.model.as_deref().unwrap_or("unknown");
        let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
        let usage = json!({
            "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost,
        });
        let value = json!({
            "role": "assistant", "content": content, "api": "unknown",
            "provider": provider_of(model), "model": model, "usage": usage, "stopReason": stop,
            "timestamp": time.0,
        });
        self.message(time, &value);
        for (id, name, is_error, blocks) in results {
            let content: Vec<Value> = blocks.into_iter().map(block_value).collect();
            let value = json!({
                "role": "toolResult", "toolCallId": id, "toolName": name, "content": content,
                "isError": is_error, "timestamp": time.0,
            });
            self.message(time, &value);
        }
    }

    fn message(&mut self, time: Millis, message: &Value) {
        self.entry(time, "message", "message", message);
    }

    fn entry(&mut self, time: Millis, kind: &str, key: &str, value: &Value) {
        let id = self.handoff.ids.short(|id| self.used.contains(id));
        self.lines.push(&json!({
            "type": kind, "id": id, "parentId": self.parent, "timestamp": rfc3339_of(time), key: value,
        }));
        self.used.insert(id.clone());
        self.parent = id.into();
    }
}

fn block_value(block: HandoffBlock) -> Value {
    match block {
        HandoffBlock::Text(text) => text_value(&text),
        HandoffBlock::Media(media) => image_value(media),
    }
}

/// Returns an image; Pi has no other media.
fn image_value(media: Media) -> Value {
    match (media.kind, media.source) {
        (MediaKind::Image, MediaSource::Base64 { mime, data }) => {
            json!({"type": "image", "data": data, "mimeType": mime})
        }
        (kind, source) => {
            let media = Media { kind, source, detail: media.detail };
            text_value(&media.placeholder())
        }
    }
}

fn text_value(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
