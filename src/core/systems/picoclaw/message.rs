//! Messages as PicoClaw reads them: one text, a list of media, function calls.
//!
//! Its store has a text and a list of media per message. A message of blocks is converted: texts joined with a newline,
//! and all other blocks as media.

use crate::chat::{Arguments, Block, BlockBody, Call, ChatMessage, Content, Fields, Text};
use crate::json::Value;
use std::borrow::Cow;

/// Returns a message's text as PicoClaw stores it.
pub fn text_of(message: &ChatMessage) -> Cow<'_, str> {
    match &message.content {
        Content::Text(text) => Cow::Borrowed(&text.text),
        Content::Blocks(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
            Cow::Owned(texts.join("\n"))
        }
        Content::Missing | Content::Null | Content::Other(_) => Cow::Borrowed(""),
    }
}

/// Returns the number of media items.
pub fn media_of(message: &ChatMessage) -> usize {
    let is_media = |block: &&Block| match &block.body {
        BlockBody::Image(_) => true,
        BlockBody::Other(value) => {
            let kind = value.get("type").and_then(Value::as_str);
            matches!(kind, Some("input_audio" | "document" | "file"))
        }
        _ => false,
    };
    media_list(message).len() + message.blocks().iter().filter(is_media).count()
}

/// Returns the list `media` of its own store.
fn media_list(message: &ChatMessage) -> &[Value] {
    let media = message.rest.get("media").and_then(Value::as_array);
    media.map_or(&[], Vec::as_slice)
}

/// Returns the texts of `system_parts`, a second form of a system message's content.
pub fn system_parts(message: &ChatMessage) -> impl Iterator<Item = &str> {
    let parts = message.rest.get("system_parts").and_then(Value::as_array);
    let text = |part| Value::get(part, "text").and_then(Value::as_str);
    parts.into_iter().flatten().map(move |p| text(p).unwrap_or(""))
}

/// Returns whether it is an assistant message with tool calls.
pub fn calls_tools(message: &ChatMessage) -> bool {
    message.is("assistant") && !message.calls().is_empty()
}

/// Returns the id of the call that a tool message answers; empty if it names none.
pub fn call_id(message: &ChatMessage) -> &str {
    message.call_id.as_deref().unwrap_or("")
}

/// Returns the id of a call; empty if it has none.
pub fn id_of(call: &Call) -> &str {
    call.id.as_deref().unwrap_or("")
}

/// Returns the `type` of a call.
pub fn type_of(call: &Call) -> &str {
    call.rest.get("type").and_then(Value::as_str).unwrap_or("")
}

/// Returns a message with text appended; its contents keep the part that they came from.
pub fn with_more_text(message: &ChatMessage, more: &str) -> ChatMessage {
    let longer = |text: &str| format!("{text}{more}").into();
    let content = match message.content.clone() {
        Content::Text(text) => Content::Text(Text { text: longer(&text.text), part: text.part }),
        Content::Blocks(mut blocks) => {
            match blocks.iter_mut().rev().find(|b| b.as_text().is_some()) {
                Some(Block { body: BlockBody::Text(text), .. }) => *text = longer(text),
                _ => blocks.push(Block::text(more)),
            }
            Content::Blocks(blocks)
        }
        Content::Missing | Content::Null | Content::Other(_) => Content::text(more),
    };
    ChatMessage::from(Fields { content, ..message.clone().into_fields() })
}

/// Returns whether two messages are equal in the store, regardless of how a call was parsed.
pub fn are_equivalent(a: &ChatMessage, b: &ChatMessage) -> bool {
    let reasoning =
        |m: &ChatMessage| m.reasoning.as_ref().map_or(String::new(), |r| r.text.to_string());
    let arguments = |call: &Call| match call.function.as_ref().map(|f| f.arguments.clone()) {
        None | Some(Arguments::Missing) => Value::Null,
        Some(Arguments::Text(text)) => Value::String(text.to_string()),
        Some(Arguments::Json(value)) => *value,
    };
    let same_call = |(a, b): (&Call, &Call)| {
        id_of(a) == id_of(b)
            && type_of(a) == type_of(b)
            && a.function.as_ref().map(|f| &f.name) == b.function.as_ref().map(|f| &f.name)
            && arguments(a) == arguments(b)
    };
    a.role == b.role
        && text_of(a) == text_of(b)
        && media_of(a) == media_of(b)
        && media_list(a) == media_list(b)
        && system_parts(a).eq(system_parts(b))
        && reasoning(a) == reasoning(b)
        && call_id(a) == call_id(b)
        && a.calls().len() == b.calls().len()
        && a.calls().iter().zip(b.calls()).all(same_call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    fn with_picture() -> ChatMessage {
        message_from_json(&json!({"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "a.png"}},
            {"type": "text", "text": "here"},
        ]}))
    }

    #[test]
    fn blocks_are_one_text_and_media() {
        assert_eq!(text_of(&with_picture()), "look\nhere");
        assert_eq!(media_of(&with_picture()), 1);
    }

    #[test]
    fn more_text_leaves_pictures_in_place() {
        let longer = with_more_text(&with_picture(), "!");
        assert_eq!(text_of(&longer), "look\nhere!");
        assert_eq!(media_of(&longer), 1);
    }

    #[test]
    fn a_message_without_content_equals_one_with_an_empty_text() {
        let missing = message_from_json(&json!({"role": "user", "content": null, "media": []}));
        assert!(are_equivalent(&missing, &ChatMessage::new("user", "")));
        assert!(!are_equivalent(&missing, &ChatMessage::new("tool", "")));
    }
}
