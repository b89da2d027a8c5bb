//! `count_tokens_approximately` of `langchain_core.messages.utils`.

use crate::chat::{BlockBody, ChatMessage, Content, Messages, Rule, python_str};
use crate::systems::javascript::{arguments_of, tool_of};
use serde_json::{Value, json};

/// Tokens that each message adds.
const PER_MESSAGE: u64 = 3;
/// Tokens of an image.
const PER_IMAGE: u64 = 85;
/// Largest factor by which a reported total scales an estimate.
const MAX_SCALE: f64 = 1.25;

const RULE: Rule = Rule {
    name: "langchain: estimate",
    by: 0,
};

/// Returns the estimated tokens of a message.
pub(super) fn estimate(message: &ChatMessage) -> u64 {
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
        chars.div_ceil(4) + PER_MESSAGE + images * PER_IMAGE
    })
}

/// Returns the estimated tokens of messages.
pub(super) fn total(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(estimate).sum()
}

/// Returns the estimated tokens of a conversation that mostly grows.
pub(super) fn total_of(messages: &Messages) -> u64 {
    messages.weigh(RULE, estimate)
}

/// Returns the estimated tokens of messages (`plain`), scaled by the total that the newest answer reported; 0 if none.
pub(super) fn scaled_total(messages: &[ChatMessage], plain: u64, reported: u64) -> u64 {
    let newest = messages.iter().rposition(|m| m.is("assistant"));
    let Some(newest) = newest.filter(|_| reported > 0 && messages.len() > 1) else {
        return plain;
    };
    let scale = reported as f64 / (plain - total(&messages[newest + 1..])) as f64;
    (plain as f64 * scale.clamp(1.0, MAX_SCALE)).ceil() as u64
}

/// Returns the calls of an answer as the program stores them.
fn calls(message: &ChatMessage) -> Value {
    let calls = message.calls().iter().map(|call| {
        json!({"name": tool_of(call), "args": arguments_of(call), "id": call.id.as_deref(),
            "type": "tool_call"})
    });
    calls.collect()
}
