//! Writes a session of another program as a rollout of Codex.

use super::record::message_item;
use crate::formats::content::Media;
use crate::formats::handoff::{
    AnswerBlock, Handoff, HandoffBlock, HandoffCall, HandoffContent, JsonLines,
};
use crate::formats::json::rfc3339_of;
use crate::formats::resume::NO_SESSION;
use crate::json::{Map, Value, json};
use crate::session::{Managed, MediaKind, Role, Session};
use crate::units::Millis;

/// Writes the lines of a new session, whose id and time are set later.
pub(super) fn write(session: &Session, managed: &Managed) -> Vec<u8> {
    let handoff = Handoff::new(session, managed);
    let mut lines = JsonLines::default();
    let start = rfc3339_of(handoff.start());
    let mut head: Map<String, Value> = Map::new();
    head.insert("id".to_owned(), NO_SESSION.into());
    head.insert("timestamp".to_owned(), start.as_str().into());
    head.insert("cwd".to_owned(), handoff.project.as_deref().unwrap_or_default().into());
    head.insert("originator".to_owned(), "plimsoll".into());
    head.insert("cli_version".to_owned(), env!("CARGO_PKG_VERSION").into());
    head.insert("source".to_owned(), "cli".into());
    lines.push(&json!({"timestamp": start, "type": "session_meta", "payload": head}));
    for message in handoff.messages {
        let time = message.time;
        match message.content {
            HandoffContent::User(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    HandoffBlock::Text(text) => Some(text.as_str()),
                    HandoffBlock::Media(_) => None,
                });
                let text = texts.collect::<Vec<_>>().join("\n");
                let content: Vec<Value> = blocks.into_iter().map(input_block).collect();
                let item = json!({"type": "message", "role": "user", "content": content});
                push(&mut lines, time, "response_item", &item);
                // The window of Codex shows these; they are not sent.
                let event = json!({"type": "user_message", "message": text});
                push(&mut lines, time, "event_msg", &event);
            }
            HandoffContent::Answer(blocks) => answer(&mut lines, time, blocks),
        }
    }
    lines.into_bytes()
}

fn push(lines: &mut JsonLines, time: Millis, kind: &str, payload: &Value) {
    lines.push(&json!({"timestamp": rfc3339_of(time), "type": kind, "payload": payload}));
}

/// Writes the texts and calls of an answer, then the results.
fn answer(lines: &mut JsonLines, time: Millis, blocks: Vec<AnswerBlock>) {
    let mut results = Vec::new();
    for block in blocks {
        match block {
            AnswerBlock::Text(text) => {
                push(lines, time, "response_item", &message_item(Role::Assistant, &text));
                let event = json!({"type": "agent_message", "message": text});
                push(lines, time, "event_msg", &event);
            }
            AnswerBlock::Call(call) => {
                let item = json!({
                    "type": "function_call", "name": call.tool,
                    "arguments": call.arguments.to_string(), "call_id": call.id,
                });
                push(lines, time, "response_item", &item);
                results.push(result(call));
            }
        }
    }
    for result in results {
        push(lines, time, "response_item", &result);
    }
}

fn result(mut call: HandoffCall) -> Value {
    let id = std::mem::take(&mut call.id);
    let output: Value = if call.media.is_empty() {
        call.text.into()
    } else {
        call.into_result().into_iter().map(input_block).collect::<Vec<_>>().into()
    };
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

fn input_block(block: HandoffBlock) -> Value {
    match block {
        HandoffBlock::Text(text) => input_text(&text),
        HandoffBlock::Media(media) => input_image(&media),
    }
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

/// Returns an image; Codex cannot read other media in a rollout.
fn input_image(media: &Media) -> Value {
    let url = media.source.url().filter(|_| media.kind == MediaKind::Image);
    url.map_or_else(
        || input_text(&media.placeholder()),
        |url| json!({"type": "input_image", "image_url": url}),
    )
}
