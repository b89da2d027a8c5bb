//! Access to blocks as in the original's dictionaries: by `type`, ignoring other fields.

use crate::chat::{Block, BlockBody, ChatMessage, Content, Fields, Text, message_to_json};
use crate::json::{Value, json};
use crate::languages::python::{first_chars, strip};
use std::sync::Arc;

/// Returns a block's `type`; `None` if it is not a dictionary.
pub(super) fn block_kind(block: &Block) -> Option<&str> {
    match &block.body {
        BlockBody::Text(_) => Some("text"),
        BlockBody::Image(image) => Some(image.json["type"].as_str().unwrap_or_default()),
        BlockBody::ToolUse { .. } => Some("tool_use"),
        BlockBody::ToolResult { .. } => Some("tool_result"),
        BlockBody::Thinking(_) => Some("thinking"),
        BlockBody::Other(Value::Object(fields)) => {
            Some(fields.get("type").and_then(Value::as_str).unwrap_or_default())
        }
        BlockBody::Other(_) => None,
    }
}

/// Returns whether a block is of a kind.
pub(super) fn is(block: &Block, wanted: &str) -> bool {
    block_kind(block) == Some(wanted)
}

/// Returns whether one of a message's blocks is of a kind.
pub(super) fn has(message: &ChatMessage, wanted: &str) -> bool {
    message.blocks().iter().any(|block| is(block, wanted))
}

/// Returns the `text` of a text block; empty for any other.
pub(super) fn text_of(block: &Block) -> &str {
    match &block.body {
        BlockBody::Text(text) => text,
        BlockBody::Other(value) if is(block, "text") => value["text"].as_str().unwrap_or_default(),
        _ => "",
    }
}

/// Replaces the text of a text block.
pub(super) fn set_text(block: &mut Block, text: String) {
    match &mut block.body {
        BlockBody::Other(value) => value["text"] = Value::String(text),
        body => *body = BlockBody::Text(text.into()),
    }
}

/// Returns the id of a call; `None` if it is empty or this is not a call.
pub(super) fn call_id(block: &Block) -> Option<&str> {
    let id = match &block.body {
        BlockBody::ToolUse { id, .. } => Some(&**id),
        BlockBody::Other(value) if is(block, "tool_use") => value["id"].as_str(),
        _ => None,
    };
    id.filter(|id| !id.is_empty())
}

/// Returns the id of the call that a result answers; `None` if it is empty or this is not a result.
pub(super) fn answered_id(block: &Block) -> Option<&str> {
    let id = match &block.body {
        BlockBody::ToolResult { id, .. } => Some(&**id),
        BlockBody::Other(value) if is(block, "tool_result") => value["tool_use_id"].as_str(),
        _ => None,
    };
    id.filter(|id| !id.is_empty())
}

/// Returns a tool's result if it is a single text.
pub(super) fn result_text(block: &Block) -> Option<&str> {
    match &block.body {
        BlockBody::ToolResult { content, .. } => content.as_text(),
        BlockBody::Other(value) if is(block, "tool_result") => value["content"].as_str(),
        _ => None,
    }
}

/// Replaces the text of a result.
pub(super) fn set_result_text(block: &mut Block, text: String) {
    match &mut block.body {
        BlockBody::ToolResult { content, .. } => {
            **content = Content::Text(Text { part: content.first_part(), text: text.into() });
        }
        BlockBody::Other(value) => value["content"] = Value::String(text),
        _ => {}
    }
}

/// Returns the `input` of a call; `None` if the block has none.
pub(super) fn call_input(block: &Block) -> Option<&Value> {
    match &block.body {
        BlockBody::ToolUse { input, .. } => Some(input),
        BlockBody::Other(value) if is(block, "tool_use") => value.get("input"),
        _ => None,
    }
}

/// Returns the `input` of a call for modification.
pub(super) fn input_mut(block: &mut Block) -> Option<&mut Value> {
    match &mut block.body {
        BlockBody::ToolUse { input, .. } => Some(input),
        BlockBody::Other(value) if value["type"] == "tool_use" => value.get_mut("input"),
        _ => None,
    }
}

/// Returns a message's text blocks that are not blank, joined by newlines and stripped; the part is the first one's.
pub(super) fn stripped_text(message: &ChatMessage) -> Text {
    match &message.content {
        Content::Text(text) => Text { text: strip(&text.text).into(), part: text.part },
        Content::Blocks(blocks) => {
            let texts: Vec<&Block> = blocks.iter().filter(|b| !text_of(b).is_empty()).collect();
            let joined: Vec<&str> = texts.iter().map(|block| text_of(block)).collect();
            Text {
                text: strip(&joined.join("\n")).into(),
                part: texts.first().and_then(|block| block.part),
            }
        }
        Content::Missing | Content::Null | Content::Other(_) => {
            Text { text: "".into(), part: None }
        }
    }
}

/// Makes a message with one block of text.
pub(super) fn text_message(role: &str, text: Text) -> ChatMessage {
    let block = Block { part: text.part, body: BlockBody::Text(text.text) };
    ChatMessage::from(Fields {
        content: Content::Blocks(vec![block]),
        ..ChatMessage::new(role, "").into_fields()
    })
}

/// Returns a message's content as JSON; an absent field is an empty text.
pub(super) fn content_json(content: &Content) -> Value {
    let message = ChatMessage::from(Fields {
        content: content.clone(),
        ..ChatMessage::new("", "").into_fields()
    });
    message_to_json(&message).get_mut("content").map_or_else(|| json!(""), Value::take)
}

/// Cuts a longer text and appends a notice, which is made from the length.
pub(super) fn cut_text(
    text: &str,
    most: usize,
    notice: impl Fn(usize) -> String,
) -> Option<String> {
    let length = text.chars().count();
    (length > most).then(|| first_chars(text, most).to_owned() + &notice(length))
}

/// Returns an empty text without a part of the session.
pub(super) fn empty_text() -> Text {
    Text { text: Arc::from(""), part: None }
}
