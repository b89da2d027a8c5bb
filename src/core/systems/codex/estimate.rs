//! Token estimates from bytes.

use crate::chat::{BlockBody, ChatMessage, Rule};

// The estimates of this file are those of Codex, `codex-rs/core/src/context_manager/history.rs` at 023fad26.
const BYTES_PER_TOKEN: usize = 4;
/// Bytes of an image.
const IMAGE: usize = 7373;
/// An output of a tool as JSON, without the id of its call and its text.
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"","output":}"#;
const MESSAGE: &str = r#"{"type":"message","role":"user","content":[]}"#;
const TEXT: &str = r#"{"type":"input_text","text":}"#;

const RULE: Rule = Rule::new("codex: tokens");

/// `approx_token_count`.
pub(super) fn tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// `estimated_tokens_after_last_model_generated_item`: the estimated tokens of the messages after the newest
/// answer. Returns 0 without an answer, as Codex does.
pub(super) fn since_answer(history: &[ChatMessage]) -> u64 {
    let answer = history.iter().rposition(|m| m.is("assistant"));
    let new = answer.map_or(&[][..], |at| &history[at + 1..]);
    let tokens_of = |m: &ChatMessage| bytes(m).div_ceil(BYTES_PER_TOKEN) as u64;
    new.iter().map(|m| m.weigh(RULE, tokens_of)).sum()
}

fn bytes(message: &ChatMessage) -> usize {
    if message.is("tool") {
        let id = message.call_id.as_ref().map_or(0, |id| id.len());
        return OUTPUT.len() + id + json_len(&message.joined_text("\n"));
    }
    let blocks = message.blocks().iter().map(|block| match &block.body {
        BlockBody::Text(text) => TEXT.len() + json_len(text),
        BlockBody::Image(_) => IMAGE,
        _ => 0,
    });
    let text = message.text().map_or(0, |text| TEXT.len() + json_len(text));
    MESSAGE.len() + text + blocks.sum::<usize>()
}

/// Returns the length of a text as JSON.
fn json_len(text: &str) -> usize {
    crate::json::Value::from(text).to_string().len()
}

/// `truncate_text`: removes the middle of a text.
pub(super) fn cut(text: &str, max_tokens: usize) -> String {
    let most = max_tokens * BYTES_PER_TOKEN;
    if text.len() <= most {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(most / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - (most - most / 2))..];
    let removed = (text.len() - most).div_ceil(BYTES_PER_TOKEN);
    format!("{head}\n…{removed} tokens truncated…\n{tail}")
}
