//! Token estimates.

use super::summary_text::is_summary;
use crate::chat::{
    Arguments, Block, BlockBody, Calls, ChatMessage, Content, Rule, message_to_json,
};
use crate::json::{Value, json};
use crate::languages::python::{Layout, python_dumps, python_str};

/// Characters that an image counts as in the budget of the tail.
// The numbers of this file are those of hermes-agent 0.19.0, `agent/context_compressor.py` and
// `agent/model_metadata.py`.
const IMAGE_CHARS: usize = 6400;
/// Tokens of an image in an estimate.
const IMAGE_TOKENS: u64 = 1500;
/// The key that marks a summary in the stored history.
const MARK: &str = ", '_compressed_summary': True";

const STORED: Rule = Rule::new("hermes: stored");
const SENT: Rule = Rule::new("hermes: sent");
const BUDGET: Rule = Rule::new("hermes: budget");

/// `estimate_messages_tokens_rough` of the stored history.
pub(super) fn stored(messages: &[ChatMessage]) -> u64 {
    let mark = |message: &ChatMessage| {
        if is_summary(message) { MARK.len() as u64 } else { 0 }
    };
    let chars = |m: &ChatMessage| m.weigh(STORED, |m| repr_chars(m) + mark(m));
    total(messages, chars)
}

/// `estimate_messages_tokens_rough` of a request: texts have no spaces around them, and arguments are compact.
pub(super) fn sent(messages: &[ChatMessage]) -> u64 {
    let chars = |message: &ChatMessage| message.weigh(SENT, |m| repr_chars(&normalized(m)));
    total(messages, chars)
}

fn total(messages: &[ChatMessage], chars: impl Fn(&ChatMessage) -> u64) -> u64 {
    let images: usize = messages.iter().map(n_images).sum();
    messages.iter().map(chars).sum::<u64>().div_ceil(4) + images as u64 * IMAGE_TOKENS
}

/// Returns the length of `str(message)` without images and the name of a tool.
fn repr_chars(message: &ChatMessage) -> u64 {
    let mut json = message_to_json(message);
    if let Some(message) = json.as_object_mut() {
        message.shift_remove("name");
        message.entry("content".to_owned()).or_insert(Value::Null);
    }
    let parts = json.get_mut("content").and_then(Value::as_array_mut);
    for part in parts.into_iter().flatten() {
        if is_image(&part["type"]) {
            *part = json!({"type": part["type"], "image": "[stripped]"});
        }
    }
    python_str(&json).chars().count() as u64
}

fn is_image(kind: &Value) -> bool {
    kind.as_str().is_some_and(|kind| matches!(kind, "image" | "image_url" | "input_image"))
}

fn normalized(message: &ChatMessage) -> ChatMessage {
    let mut message = match message.text() {
        Some(text) => message.with_text(crate::languages::python::strip(text)),
        None => message.clone(),
    };
    if message.calls().is_empty() {
        return message;
    }
    let mut calls = message.calls().to_vec();
    for call in &mut calls {
        let arguments = call.arguments_as_value();
        if let Some(function) = &mut call.function {
            let text = python_dumps(&arguments, Layout { is_ascii: true, ..Layout::COMPACT });
            function.arguments = Arguments::Text(text.into());
        }
    }
    message.calls = Calls::List(calls);
    message
}

/// Returns the number of images in a message.
pub(super) fn n_images(message: &ChatMessage) -> usize {
    let is_image = |block: &&Block| matches!(block.body, BlockBody::Image(_));
    message.blocks().iter().filter(is_image).count()
}

/// `_estimate_msg_budget_tokens`.
pub(super) fn budget(message: &ChatMessage) -> u64 {
    message.weigh(BUDGET, |message| {
        let chars = |text: &str| text.chars().count();
        let content = match &message.content {
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(Block::as_text).map(chars);
                texts.sum::<usize>() + n_images(message) * IMAGE_CHARS
            }
            _ => chars(message.text().unwrap_or_default()),
        };
        let json = message_to_json(message);
        let calls = json["tool_calls"].as_array().into_iter().flatten();
        let calls: usize = calls.map(|call| chars(&python_str(call)) / 4).sum();
        let reasoning = message.reasoning.as_ref().map_or(0, |r| chars(&r.text));
        (content / 4 + 10 + calls + reasoning / 4) as u64
    })
}
