//! Writes a session of another program as one of Gemini CLI.

use crate::formats::content::{Media, MediaSource};
use crate::formats::handoff::{
    AnswerBlock, Handoff, HandoffBlock, HandoffCall, HandoffContent, JsonLines,
};
use crate::formats::json::rfc3339_of;
use crate::formats::resume::NO_SESSION;
use crate::json::{Map, Value, json};
use crate::session::{Managed, Session};

/// Text before a message that Gemini CLI would leave out when it resumes the session.
const LEAD: &str = "Message:";

/// Returns whether Gemini CLI leaves out a user message with this text when it resumes a session (`isIgnoredUserContent`).
/// It takes such messages for its own commands and context.
pub(super) fn is_left_out(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || ["/", "?", "<session_context>", "<hook_context>"].iter().any(|s| text.starts_with(s))
}

/// Writes the records of a new session, whose id, times and project are set later.
pub(super) fn write(session: &Session, managed: &Managed) -> Vec<u8> {
    let mut handoff = Handoff::new(session, managed);
    let mut lines = JsonLines::default();
    let (start, end) = (rfc3339_of(handoff.start()), rfc3339_of(handoff.end()));
    lines.push(&json!({
        "sessionId": NO_SESSION, "projectHash": NO_SESSION, "startTime": start, "lastUpdated": end,
        "kind": "main",
    }));
    for message in std::mem::take(&mut handoff.messages) {
        let mut record = Map::new();
        record.insert("id".to_owned(), handoff.ids.uuid().into());
        record.insert("timestamp".to_owned(), rfc3339_of(message.time).into());
        match message.content {
            HandoffContent::User(blocks) => {
                record.insert("type".to_owned(), "user".into());
                record.insert("content".to_owned(), user_content(blocks).into());
            }
            HandoffContent::Answer(blocks) => {
                record.insert("type".to_owned(), "gemini".into());
                answer(&mut record, blocks, handoff.model.as_deref(), &rfc3339_of(message.time));
            }
        }
        lines.push(&record.into());
    }
    lines.into_bytes()
}

fn user_content(blocks: Vec<HandoffBlock>) -> Vec<Value> {
    let mut text = String::new();
    for block in &blocks {
        if let HandoffBlock::Text(more) = block {
            text.push_str(more);
        }
    }
    let has_media = blocks.iter().any(|block| matches!(block, HandoffBlock::Media(_)));
    let needs_lead = is_left_out(&text) && !(text.trim().is_empty() && has_media);
    let lead = needs_lead.then(|| text_value(LEAD));
    lead.into_iter().chain(blocks.into_iter().map(part)).collect()
}

/// Adds the content and the calls of an answer, whose texts precede its calls.
fn answer(
    record: &mut Map<String, Value>,
    blocks: Vec<AnswerBlock>,
    model: Option<&str>,
    time: &str,
) {
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    for block in blocks {
        match block {
            AnswerBlock::Text(text) => texts.push(text),
            AnswerBlock::Call(call) => calls.push(tool_call(call, time)),
        }
    }
    let content = match &texts[..] {
        [] => "".into(),
        [only] => Value::from(only.as_str()),
        _ => texts.iter().map(|text| text_value(text)).collect::<Vec<_>>().into(),
    };
    record.insert("content".to_owned(), content);
    record.insert("thoughts".to_owned(), Vec::<Value>::new().into());
    if let Some(model) = model {
        record.insert("model".to_owned(), model.into());
    }
    if !calls.is_empty() {
        record.insert("toolCalls".to_owned(), calls.into());
    }
}

fn tool_call(call: HandoffCall, time: &str) -> Value {
    let status = if call.is_error { "error" } else { "success" };
    let key = if call.is_error { "error" } else { "output" };
    let (id, name) = (&call.id, &call.tool);
    let response = json!({
        "functionResponse": {"id": id, "name": name, "response": {key: call.text}},
    });
    let mut result = vec![response];
    result.extend(call.media.into_iter().map(part));
    json!({
        "id": id, "name": name, "args": call.arguments, "result": result, "status": status,
        "timestamp": time,
    })
}

fn part(block: HandoffBlock) -> Value {
    match block {
        HandoffBlock::Text(text) => text_value(&text),
        HandoffBlock::Media(media) => media_part(media),
    }
}

fn media_part(media: Media) -> Value {
    match media.source {
        MediaSource::Base64 { mime, data } if !mime.is_empty() => {
            json!({"inlineData": {"mimeType": mime, "data": data}})
        }
        _ => text_value(&media.placeholder()),
    }
}

fn text_value(text: &str) -> Value {
    json!({"text": text})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_would_be_left_out_gets_a_lead() {
        let content = |text: &str| user_content(vec![HandoffBlock::Text(text.to_owned())]).len();
        assert_eq!((content("Look."), content("/tmp is full"), content(" ?"),), (1, 2, 2));
    }
}
