//! Operations of JavaScript on texts and values. Systems written in JavaScript depend on them.

use crate::chat::{Arguments, Block, Call, ChatMessage, Content};
use serde_json::Value;

/// Returns the length of a text as JavaScript counts it, in UTF-16 units.
pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.encode_utf16().count()
    }
}

/// Returns the first `n` units of a text. A character of two units is kept whole or omitted.
pub(super) fn first_units(text: &str, n: usize) -> &str {
    let mut units = 0;
    let end = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > n
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// Returns the last `n` units of a text. A character of two units is kept whole or omitted.
pub(super) fn last_units(text: &str, n: usize) -> &str {
    let mut units = 0;
    let before = text.char_indices().rev().find(|(_, c)| {
        units += c.len_utf16();
        units > n
    });
    before.map_or(text, |(at, c)| &text[at + c.len_utf8()..])
}

/// Returns the text of a message: its single text, or its text blocks joined by `separator`.
pub(super) fn text_of(message: &ChatMessage, separator: &str) -> String {
    match &message.content {
        Content::Text(text) => text.text.to_string(),
        Content::Blocks(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
            texts.join(separator)
        }
        Content::Missing | Content::Null | Content::Other(_) => String::new(),
    }
}

/// Returns the name of a call's tool.
pub(super) fn tool_of(call: &Call) -> &str {
    call.function.as_ref().map_or("", |f| &f.name)
}

/// Returns the arguments of a call as a value; a text that is not JSON is a string.
pub(super) fn arguments_of(call: &Call) -> Value {
    match call.function.as_ref().map(|f| &f.arguments) {
        Some(Arguments::Text(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(&**text))
        }
        Some(Arguments::Json(value)) => value.clone(),
        Some(Arguments::Missing) | None => Value::Null,
    }
}

/// Returns the arguments as `name=JSON` pairs, joined by commas.
pub(super) fn named_arguments(arguments: &Value) -> String {
    let pairs = arguments.as_object().into_iter().flatten();
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(", ")
}
