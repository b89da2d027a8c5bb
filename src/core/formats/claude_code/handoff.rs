//! Writes a session of another program as one of Claude Code.

use crate::formats::anthropic_messages::{media_value, result_value};
use crate::formats::content::Media;
use crate::formats::handoff::{
    AnswerBlock, Handoff, HandoffBlock, HandoffContent, JsonLines, has_calls,
};
use crate::formats::json::rfc3339_of;
use crate::formats::resume::NO_SESSION;
use crate::json::{Map, Value, json};
use crate::session::{Managed, Session};
use crate::units::Millis;

/// Writes the records of a new session, whose id and folder are set later.
pub(super) fn write(session: &Session, managed: &Managed) -> Vec<u8> {
    let mut handoff = Handoff::new(session, managed);
    let messages = std::mem::take(&mut handoff.messages);
    let mut writer = RecordWriter { handoff, lines: JsonLines::default(), parent: Value::Null };
    for message in messages {
        match message.content {
            HandoffContent::User(blocks) => writer.user(message.time, &user_content(blocks)),
            HandoffContent::Answer(blocks) => writer.answer(message.time, blocks),
        }
    }
    // The program shows this title in its list of sessions.
    if let Some(title) = writer.handoff.title.take() {
        writer
            .lines
            .push(&json!({"type": "custom-title", "customTitle": title, "sessionId": NO_SESSION}));
    }
    writer.lines.into_bytes()
}

struct RecordWriter {
    handoff: Handoff,
    lines: JsonLines,
    /// Id of the record before.
    parent: Value,
}

impl RecordWriter {
    fn user(&mut self, time: Millis, content: &Value) {
        self.record(time, "user", json!({"role": "user", "content": content}));
    }

    /// Writes an answer, and a record with the results of its calls.
    fn answer(&mut self, time: Millis, blocks: Vec<AnswerBlock>) {
        let stop = if has_calls(&blocks) { "tool_use" } else { "end_turn" };
        let (mut content, mut results) = (Vec::new(), Vec::new());
        for block in blocks {
            match block {
                AnswerBlock::Text(text) => content.push(text_value(&text)),
                AnswerBlock::Call(call) => {
                    let (id, name) = (&call.id, &call.tool);
                    let input = &call.arguments;
                    content
                        .push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
                    let media = call.media.into_iter().map(block_value).collect();
                    results.push(result_value(&call.id, call.is_error, &call.text, media));
                }
            }
        }
        let mut message = Map::new();
        let id = self.handoff.ids.uuid().replace('-', "");
        message.insert("id".to_owned(), format!("msg_{id}").into());
        message.insert("type".to_owned(), "message".into());
        message.insert("role".to_owned(), "assistant".into());
        if let Some(model) = &self.handoff.model {
            message.insert("model".to_owned(), model.as_str().into());
        }
        message.insert("content".to_owned(), content.into());
        message.insert("stop_reason".to_owned(), stop.into());
        message.insert("stop_sequence".to_owned(), Value::Null);
        message.insert("usage".to_owned(), json!({"input_tokens": 0, "output_tokens": 0}));
        self.record(time, "assistant", message.into());
        if !results.is_empty() {
            self.user(time, &results.into());
        }
    }

    fn record(&mut self, time: Millis, kind: &str, message: Value) {
        let uuid = self.handoff.ids.uuid();
        let mut record = Map::new();
        record.insert("parentUuid".to_owned(), self.parent.clone());
        record.insert("isSidechain".to_owned(), false.into());
        record.insert("userType".to_owned(), "external".into());
        let project = self.handoff.project.as_deref().unwrap_or_default();
        record.insert("cwd".to_owned(), project.into());
        record.insert("sessionId".to_owned(), NO_SESSION.into());
        record.insert("type".to_owned(), kind.into());
        record.insert("message".to_owned(), message);
        record.insert("uuid".to_owned(), uuid.as_str().into());
        record.insert("timestamp".to_owned(), rfc3339_of(time).into());
        self.lines.push(&record.into());
        self.parent = uuid.into();
    }
}

/// Returns the content of a user message, as a string if it is a single text.
fn user_content(mut blocks: Vec<HandoffBlock>) -> Value {
    if let [HandoffBlock::Text(text)] = &mut blocks[..] {
        return std::mem::take(text).into();
    }
    blocks.into_iter().map(block_value).collect::<Vec<_>>().into()
}

fn block_value(block: HandoffBlock) -> Value {
    match block {
        HandoffBlock::Text(text) => text_value(&text),
        HandoffBlock::Media(media) => supported(media),
    }
}

/// Returns an image or a document. The program would send a reference to an uploaded file, but not the right to read it.
fn supported(media: Media) -> Value {
    use crate::formats::content::MediaSource;
    match media.source {
        MediaSource::File(_) => text_value(&media.placeholder()),
        _ => media_value(media),
    }
}

fn text_value(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
