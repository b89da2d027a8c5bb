//! `count_tokens_approximately` of `langchain_core.messages.utils`. The numbers are those of langchain-core 1.8.2.

use crate::chat::{BlockBody, ChatMessage, Content, Messages, Rule};
use crate::json::{Value, json};
use crate::languages::python::python_str;

/// Characters of a token.
const CHARS_PER_TOKEN: u64 = 4;
/// Tokens that each message adds.
const PER_MESSAGE: u64 = 3;
/// Tokens of an image.
const PER_IMAGE: u64 = 85;
/// Largest factor by which a reported total scales an estimate.
const MAX_SCALE: f64 = 1.25;

const RULE: Rule = Rule::new("langchain: estimate");

/// Returns the estimated tokens of a message.
pub(crate) fn estimated_tokens(message: &ChatMessage) -> u64 {
    message.weigh(RULE, |message| {
        let n_chars = |text: &str| text.chars().count() as u64;
        let (mut chars, mut images) = (0, 0);
        match &message.content {
            Content::Text(text) => chars += n_chars(&text.text),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match &block.body {
                        BlockBody::Text(text) => chars += n_chars(text),
                        BlockBody::Image(_) => images += 1,
                        BlockBody::Thinking(value) | BlockBody::Other(value) => {
                            chars += n_chars(&python_str(value));
                        }
                        BlockBody::ToolUse { .. } | BlockBody::ToolResult { .. } => {}
                    }
                }
            }
            Content::Missing | Content::Null | Content::Other(_) => {}
        }
        if !matches!(message.content, Content::Blocks(_)) && !message.calls().is_empty() {
            chars += n_chars(&python_str(&calls(message)));
        }
        chars += n_chars(&message.role);
        chars += message.call_id.as_deref().map_or(0, n_chars);
        chars += message.name.as_deref().map_or(0, n_chars);
        chars.div_ceil(CHARS_PER_TOKEN) + PER_MESSAGE + images * PER_IMAGE
    })
}

/// Returns the estimated tokens of messages.
pub(crate) fn total(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(estimated_tokens).sum()
}

/// Returns the estimated tokens of a conversation that mostly grows.
pub(super) fn total_of(messages: &Messages) -> u64 {
    messages.weigh(RULE, estimated_tokens)
}

/// Returns the estimated tokens of messages and of tool definitions (`tools`), scaled by the total that the answer at a
/// position reported.
pub(crate) fn scaled(messages: &[ChatMessage], tools: u64, reported: Option<(usize, u64)>) -> u64 {
    let plain = tools + total(messages);
    let Some((answer, reported)) = reported.filter(|_| messages.len() > 1) else {
        return plain;
    };
    scale(plain, reported, tools + total(&messages[..=answer]))
}

/// Scales an estimate by the ratio of a reported total to the estimate of the same messages.
pub(super) fn scale(plain: u64, reported: u64, estimated: u64) -> u64 {
    let factor = reported as f64 / estimated as f64;
    (plain as f64 * factor.clamp(1.0, MAX_SCALE)).ceil() as u64
}

/// Returns the calls of an answer as the library stores them.
fn calls(message: &ChatMessage) -> Value {
    let calls = message.calls().iter().map(|call| {
        json!({"name": call.tool(), "args": call.arguments_as_value(), "id": call.id.as_deref(),
            "type": "tool_call"})
    });
    calls.collect()
}
