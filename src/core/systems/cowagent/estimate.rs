//! `CowAgent`'s token estimate: by code points, with a fixed number for the structure of each block.
//!
//! Tool definitions, roles, lists inside results and almost all of thinking are not counted.

use super::block::{block_kind, call_input, result_text, text_of};
use crate::chat::{Block, ChatMessage, Content, Shape};
use crate::engine::NamedMeter;
use crate::json::Value;
use crate::languages::python::{Layout, python_dumps};

/// An `image` block; one in OpenAI's format (`image_url`) counts as [`OTHER`].
// The numbers of this file are those of `CowAgent` 2.0.8, `agent/protocol/agent.py`.
const IMAGE: u64 = 1200;
/// A call, in addition to its arguments.
const CALL: u64 = 50;
/// A result, in addition to its text.
const RESULT: u64 = 30;
/// Thinking, a document, anything else.
const OTHER: u64 = 10;

/// The estimate as a meter.
pub static METER: NamedMeter = NamedMeter {
    name: "cowagent",
    help: "0.25 tokens per ASCII character, 1.5 per other character, 1,200 per image. Lists in results and tool definitions count 0.",
    shape: Shape::Anthropic,
    units: message_tokens,
    tokens: |units| units,
    tools: |_| 0,
};

/// Returns the tokens of a text: 1.5 per non-ASCII code point, 0.25 per other, rounded down, plus one.
pub(super) fn text_tokens(text: &str) -> u64 {
    if text.is_empty() {
        return 0;
    }
    let quarters: u64 = text.chars().map(|c| if c.is_ascii() { 1 } else { 6 }).sum();
    quarters / 4 + 1
}

/// `_estimate_message_tokens`: returns the tokens of a message, at least one.
pub fn message_tokens(message: &ChatMessage) -> u64 {
    let tokens = match &message.content {
        Content::Text(text) => text_tokens(&text.text),
        Content::Blocks(blocks) => blocks.iter().map(block_tokens).sum(),
        Content::Missing | Content::Null | Content::Other(_) => 1,
    };
    tokens.max(1)
}

/// Returns the tokens of messages.
pub fn messages_tokens(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(|m| METER.weigh(m)).sum()
}

/// Returns the tokens of the instructions: one if there are none.
pub fn system_tokens(system: &str) -> u64 {
    text_tokens(system).max(1)
}

fn block_tokens(block: &Block) -> u64 {
    match block_kind(block) {
        None => 0,
        Some("text") => text_tokens(text_of(block)),
        Some("image") => IMAGE,
        Some("tool_use") => CALL + input_tokens(call_input(block)),
        Some("tool_result") => RESULT + result_text(block).map_or(0, text_tokens),
        Some(_) => OTHER,
    }
}

/// Returns the tokens of arguments: 0 if they are not an object, those of `{}` if missing.
fn input_tokens(input: Option<&Value>) -> u64 {
    match input {
        None => text_tokens("{}"),
        Some(value) if value.is_object() => text_tokens(&python_dumps(value, Layout::UNICODE)),
        Some(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    fn tokens(content: &Value) -> u64 {
        message_tokens(&message_from_json(&json!({"role": "user", "content": content})))
    }

    #[test]
    fn images_count_only_in_the_systems_own_shape() {
        assert_eq!(tokens(&json!([{"type": "image", "source": {}}])), 1200);
        assert_eq!(tokens(&json!([{"type": "image_url", "image_url": {}}])), 10);
        assert_eq!(tokens(&json!([{"type": "document"}])), 10);
        assert_eq!(tokens(&json!([{"type": "thinking", "thinking": "long"}])), 10);
    }

    #[test]
    fn a_list_in_a_result_counts_nothing() {
        let list = json!([{"type": "text", "text": "x".repeat(4000)}]);
        let block = json!([{"type": "tool_result", "tool_use_id": "1", "content": list}]);
        assert_eq!(tokens(&block), 30);
    }

    #[test]
    fn half_tokens_are_rounded_down_after_adding() {
        assert_eq!(text_tokens("é"), 2);
        assert_eq!(text_tokens("éabc"), 3);
        assert_eq!(text_tokens("日本"), 4);
        assert_eq!(system_tokens(""), 1);
    }
}
