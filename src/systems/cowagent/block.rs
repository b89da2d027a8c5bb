//! Reads blocks as the original reads its dictionaries: by `type`, whatever else a block holds.

use crate::chat::{Block, BlockBody, ChatMessage, Content, Fields, Text, message_to_json};
use serde_json::{Value, json};
use std::sync::Arc;

/// A block's `type`; none if it is no dictionary at all.
pub(super) fn kind(block: &Block) -> Option<&str> {
    match &block.body {
        BlockBody::Text(_) => Some("text"),
        BlockBody::Image(image) => Some(image.json["type"].as_str().unwrap_or_default()),
        BlockBody::ToolUse { .. } => Some("tool_use"),
        BlockBody::ToolResult { .. } => Some("tool_result"),
        BlockBody::Thinking(_) => Some("thinking"),
        BlockBody::Other(Value::Object(fields)) => Some(
            fields
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        ),
        BlockBody::Other(_) => None,
    }
}

/// Whether a block is of a kind.
pub(super) fn is(block: &Block, wanted: &str) -> bool {
    kind(block) == Some(wanted)
}

/// Whether one of a message's blocks is of a kind.
pub(super) fn has(message: &ChatMessage, wanted: &str) -> bool {
    message.blocks().iter().any(|block| is(block, wanted))
}

/// `text` of a text block; empty for any other.
pub(super) fn text_of(block: &Block) -> &str {
    match &block.body {
        BlockBody::Text(text) => text,
        BlockBody::Other(value) if is(block, "text") => value["text"].as_str().unwrap_or_default(),
        _ => "",
    }
}

/// Puts another text into a text block.
pub(super) fn set_text(block: &mut Block, text: String) {
    match &mut block.body {
        BlockBody::Other(value) => value["text"] = Value::String(text),
        body => *body = BlockBody::Text(text.into()),
    }
}

/// Id of a call; none if it is empty or this is no call.
pub(super) fn call_id(block: &Block) -> Option<&str> {
    let id = match &block.body {
        BlockBody::ToolUse { id, .. } => Some(&**id),
        BlockBody::Other(value) if is(block, "tool_use") => value["id"].as_str(),
        _ => None,
    };
    id.filter(|id| !id.is_empty())
}

/// Id of the call that a result answers; none if it is empty or this is no result.
pub(super) fn answered_id(block: &Block) -> Option<&str> {
    let id = match &block.body {
        BlockBody::ToolResult { id, .. } => Some(&**id),
        BlockBody::Other(value) if is(block, "tool_result") => value["tool_use_id"].as_str(),
        _ => None,
    };
    id.filter(|id| !id.is_empty())
}

/// What a tool returned, where that is one text.
pub(super) fn result_text(block: &Block) -> Option<&str> {
    match &block.body {
        BlockBody::ToolResult { content, .. } => content.as_text(),
        BlockBody::Other(value) if is(block, "tool_result") => value["content"].as_str(),
        _ => None,
    }
}

/// Puts another text into a result.
pub(super) fn set_result_text(block: &mut Block, text: String) {
    match &mut block.body {
        BlockBody::ToolResult { content, .. } => {
            **content = Content::Text(Text {
                part: content.first_part(),
                text: text.into(),
            });
        }
        BlockBody::Other(value) => value["content"] = Value::String(text),
        _ => {}
    }
}

/// `input` of a call; none if the block has none.
pub(super) fn input(block: &Block) -> Option<&Value> {
    match &block.body {
        BlockBody::ToolUse { input, .. } => Some(input),
        BlockBody::Other(value) if is(block, "tool_use") => value.get("input"),
        _ => None,
    }
}

/// The same, to be changed.
pub(super) fn input_mut(block: &mut Block) -> Option<&mut Value> {
    match &mut block.body {
        BlockBody::ToolUse { input, .. } => Some(input),
        BlockBody::Other(value) if value["type"] == "tool_use" => value.get_mut("input"),
        _ => None,
    }
}

/// A message's text blocks that say something, joined by newlines and stripped; the part is the first one's.
pub(super) fn said(message: &ChatMessage) -> Text {
    match &message.content {
        Content::Text(text) => Text {
            text: strip(&text.text).into(),
            part: text.part,
        },
        Content::Blocks(blocks) => {
            let texts: Vec<&Block> = blocks.iter().filter(|b| !text_of(b).is_empty()).collect();
            let joined: Vec<&str> = texts.iter().map(|block| text_of(block)).collect();
            Text {
                text: strip(&joined.join("\n")).into(),
                part: texts.first().and_then(|block| block.part),
            }
        }
        Content::Missing | Content::Null | Content::Other(_) => Text {
            text: "".into(),
            part: None,
        },
    }
}

/// A message with one block of text.
pub(super) fn text_message(role: &str, text: Text) -> ChatMessage {
    let block = Block {
        part: text.part,
        body: BlockBody::Text(text.text),
    };
    ChatMessage::from(Fields {
        content: Content::Blocks(vec![block]),
        ..ChatMessage::new(role, "").into_fields()
    })
}

/// A message's content as JSON; an absent field reads as the empty text.
pub(super) fn content_json(content: &Content) -> Value {
    let message = ChatMessage::from(Fields {
        content: content.clone(),
        ..ChatMessage::new("", "").into_fields()
    });
    message_to_json(&message)
        .get_mut("content")
        .map_or_else(|| json!(""), Value::take)
}

/// The text with something else behind its first characters, if it is longer; the notice is told the length.
pub(super) fn cut(text: &str, most: usize, notice: impl Fn(usize) -> String) -> Option<String> {
    let length = text.chars().count();
    (length > most).then(|| head(text, most).to_owned() + &notice(length))
}

/// The first characters.
pub(super) fn head(text: &str, most: usize) -> &str {
    let end = text
        .char_indices()
        .nth(most)
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// The last characters.
pub(super) fn tail(text: &str, most: usize) -> &str {
    let length = text.chars().count();
    let start = head(text, length.saturating_sub(most)).len();
    text.get(start..).unwrap_or_default()
}

/// `str.strip`, which takes the four separators of ASCII for space.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.isspace` of one character.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// An empty text, of no session.
pub(super) fn nothing() -> Text {
    Text {
        text: Arc::from(""),
        part: None,
    }
}
