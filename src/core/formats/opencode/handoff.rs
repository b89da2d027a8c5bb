//! Writes a session of another program as a document that `opencode import` reads.

use crate::formats::content::{Media, MediaSource};
use crate::formats::handoff::{
    AnswerBlock, Handoff, HandoffBlock, HandoffCall, HandoffContent, has_calls,
};
use crate::formats::resume::provider_of;
use crate::json::{Map, Value, json};
use crate::session::{Managed, Session};
use crate::units::Millis;

/// Version of `OpenCode` that reads the document.
pub(super) const VERSION: &str = "1.18.33";
/// Agent whose tools the session continues with, the default one of the program.
const AGENT: &str = "build";
/// Id of the session until it gets a new one.
const SESSION: &str = "ses_000000000000";

/// Writes the document of a new session, whose ids are set later.
pub(super) fn write(session: &Session, managed: &Managed) -> Vec<u8> {
    let mut handoff = Handoff::new(session, managed);
    let (start, end) = (handoff.start().0, handoff.end().0);
    let project = handoff.project.clone().unwrap_or_default();
    let model = handoff.model.clone().unwrap_or_else(|| "unknown".to_owned());
    let title = handoff.title.take().unwrap_or_else(|| session.source.name.clone());
    let mut writer = MessageWriter { project, model, n_messages: 0, n_parts: 0, parent: None };
    let messages: Vec<Value> = std::mem::take(&mut handoff.messages)
        .into_iter()
        .map(|message| match message.content {
            HandoffContent::User(blocks) => writer.user(message.time, blocks),
            HandoffContent::Answer(blocks) => writer.answer(message.time, blocks),
        })
        .collect();
    let info = json!({
        "id": SESSION, "slug": "handoff", "projectID": "global", "directory": writer.project,
        "title": title, "version": VERSION, "time": {"created": start, "updated": end},
    });
    json!({"info": info, "messages": messages}).to_string().into_bytes()
}

struct MessageWriter {
    project: String,
    model: String,
    n_messages: usize,
    n_parts: usize,
    /// Id of the last user message, which the answers after it name.
    parent: Option<String>,
}

impl MessageWriter {
    fn message_id(&mut self) -> String {
        self.n_messages += 1;
        format!("msg_{:012x}", self.n_messages)
    }

    /// Returns a part of a message.
    fn part(&mut self, message: &str, mut members: Map<String, Value>) -> Value {
        self.n_parts += 1;
        members.insert("id".to_owned(), format!("prt_{:012x}", self.n_parts).into());
        members.insert("sessionID".to_owned(), SESSION.into());
        members.insert("messageID".to_owned(), message.into());
        members.into()
    }

    fn user(&mut self, time: Millis, blocks: Vec<HandoffBlock>) -> Value {
        let id = self.message_id();
        let parts: Vec<Value> =
            blocks.into_iter().map(|block| self.part(&id, block_members(block))).collect();
        let info = json!({
            "id": id, "sessionID": SESSION, "role": "user", "time": {"created": time.0},
            "agent": AGENT,
            "model": {"providerID": provider_of(&self.model), "modelID": self.model},
        });
        self.parent = Some(id);
        json!({"info": info, "parts": parts})
    }

    fn answer(&mut self, time: Millis, blocks: Vec<AnswerBlock>) -> Value {
        let id = self.message_id();
        let finish = if has_calls(&blocks) { "tool-calls" } else { "stop" };
        let tokens =
            json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}});
        let mut parts = vec![self.part(&id, members(json!({"type": "step-start"})))];
        for block in blocks {
            let block = match block {
                AnswerBlock::Text(text) => text_members(&text),
                AnswerBlock::Call(call) => self.tool_members(&id, time, call),
            };
            parts.push(self.part(&id, block));
        }
        let step = json!({"type": "step-finish", "reason": finish, "cost": 0, "tokens": tokens});
        parts.push(self.part(&id, members(step)));
        let info = json!({
            "id": id, "sessionID": SESSION, "role": "assistant",
            "parentID": self.parent.as_deref().unwrap_or(&id),
            "time": {"created": time.0, "completed": time.0},
            "modelID": self.model, "providerID": provider_of(&self.model),
            "mode": AGENT, "agent": AGENT, "path": {"cwd": self.project, "root": self.project},
            "cost": 0, "tokens": tokens, "finish": finish,
        });
        json!({"info": info, "parts": parts})
    }

    fn tool_members(
        &mut self,
        message: &str,
        time: Millis,
        call: HandoffCall,
    ) -> Map<String, Value> {
        let (mut attachments, mut text) = (Vec::new(), call.text);
        for block in call.media {
            match block {
                HandoffBlock::Media(media) if is_supported(&media) => {
                    attachments.push(self.part(message, media_members(media)));
                }
                HandoffBlock::Media(media) => add_line(&mut text, &media.placeholder()),
                HandoffBlock::Text(more) => add_line(&mut text, &more),
            }
        }
        let time = json!({"start": time.0, "end": time.0});
        let state = if call.is_error {
            json!({"status": "error", "input": call.arguments, "error": text, "time": time})
        } else if attachments.is_empty() {
            json!({
                "status": "completed", "input": call.arguments, "output": text, "title": call.tool,
                "metadata": {}, "time": time,
            })
        } else {
            json!({
                "status": "completed", "input": call.arguments, "output": text, "title": call.tool,
                "metadata": {}, "time": time, "attachments": attachments,
            })
        };
        members(json!({"type": "tool", "callID": call.id, "tool": call.tool, "state": state}))
    }
}

fn add_line(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

fn members(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

fn block_members(block: HandoffBlock) -> Map<String, Value> {
    match block {
        HandoffBlock::Text(text) => text_members(&text),
        HandoffBlock::Media(media) if is_supported(&media) => media_members(media),
        HandoffBlock::Media(media) => text_members(&media.placeholder()),
    }
}

fn text_members(text: &str) -> Map<String, Value> {
    members(json!({"type": "text", "text": text}))
}

/// Returns whether the file has the payload with its type.
fn is_supported(media: &Media) -> bool {
    matches!(&media.source, MediaSource::Base64 { mime, .. } if !mime.is_empty())
}

fn media_members(media: Media) -> Map<String, Value> {
    let MediaSource::Base64 { mime, data } = media.source else {
        return Map::new();
    };
    let url = format!("data:{mime};base64,{data}");
    members(json!({"type": "file", "mime": mime, "filename": media.kind.name(), "url": url}))
}
