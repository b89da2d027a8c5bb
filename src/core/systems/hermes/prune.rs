//! `_prune_old_tool_results`: replaces repeated and old results, and shortens the arguments of old calls.

use super::estimate::{budget, n_images};
use super::line::line;
use crate::chat::{Arguments, Block, BlockBody, Calls, ChatMessage, Content};
use crate::json::Value;
use crate::languages::python::first_chars;
use crate::languages::python::{Layout, python_dumps};
use std::collections::{HashMap, HashSet};

const DUPLICATE: &str = "[Duplicate tool output — same content as a more recent call]";
const CLEARED: &str = "[Old tool output cleared to save context space]";
const SCREENSHOT: &str = "[screenshot removed to save context]";
/// Results of at most this many characters are kept.
// The numbers of this file are those of hermes-agent 0.19.0, `_prune_old_tool_results` (`agent/context_compressor.py`).
const SMALL: usize = 200;
/// Arguments of at most this many characters are kept.
const SMALL_ARGUMENTS: usize = 500;
/// Characters that a text in long arguments keeps.
const KEPT: usize = 200;

/// Returns a history with replacements before its tail of `n_tail` messages or `tail_tokens`, whichever is larger.
pub(super) fn prune(messages: &[ChatMessage], n_tail: usize, tail_tokens: u64) -> Vec<ChatMessage> {
    let n = messages.len();
    let (mut tokens, mut start) = (0, n);
    for (at, message) in messages.iter().enumerate().rev() {
        let more = budget(message);
        if tokens + more > tail_tokens && n - at >= n_tail.min(n) {
            start = at;
            break;
        }
        tokens += more;
        start = at;
    }
    let n_old =
        if tail_tokens > 0 { start.min(n - n_tail.min(n)) } else { n.saturating_sub(n_tail) };
    let mut after = without_duplicates(messages);
    let calls = messages.iter().flat_map(ChatMessage::calls);
    let calls: HashMap<_, _> = calls.filter_map(|call| Some((call.id.clone()?, call))).collect();
    for message in &mut after[..n_old] {
        if message.is("tool") {
            let call = message.call_id.as_ref().and_then(|id| calls.get(id));
            let arguments = call.map_or(Value::Null, |call| call.arguments_as_value());
            let tool = call.map_or("unknown", |call| call.tool());
            if let Some(now) = without_content(message, tool, arguments) {
                *message = now;
            }
        } else if let Some(now) = with_short_arguments(message) {
            *message = now;
        }
    }
    after
}

fn without_duplicates(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut seen = HashSet::new();
    let mut after = messages.to_vec();
    for message in after.iter_mut().rev().filter(|message| message.is("tool")) {
        let Some(text) = message.text().filter(|text| text.chars().count() >= SMALL) else {
            continue;
        };
        if !seen.insert(text.to_owned()) {
            *message = message.with_text(DUPLICATE);
        }
    }
    after
}

/// Returns a result without its content; `None` if it is small.
fn without_content(result: &ChatMessage, tool: &str, arguments: Value) -> Option<ChatMessage> {
    if let Content::Blocks(blocks) = &result.content {
        return (n_images(result) > 0).then(|| {
            let mut now = result.clone();
            now.content = Content::Blocks(without_images(blocks, SCREENSHOT));
            now
        });
    }
    let text = result.text().filter(|text| text.chars().count() > SMALL)?;
    if text == CLEARED || text.starts_with("[Duplicate tool output") {
        return None;
    }
    Some(result.with_text(line(tool, arguments, text)))
}

/// Returns blocks with a text in place of each image.
pub(super) fn without_images(blocks: &[Block], text: &str) -> Vec<Block> {
    let now = |block: &Block| match block.body {
        BlockBody::Image(_) => Block { body: BlockBody::Text(text.into()), ..block.clone() },
        _ => block.clone(),
    };
    blocks.iter().map(now).collect()
}

/// Returns an answer with shorter texts in long arguments; `None` if nothing changes.
fn with_short_arguments(answer: &ChatMessage) -> Option<ChatMessage> {
    let mut calls = answer.calls().to_vec();
    let mut is_changed = false;
    for call in &mut calls {
        let Some(function) = &mut call.function else {
            continue;
        };
        let Arguments::Text(text) = &function.arguments else {
            continue;
        };
        if text.chars().count() <= SMALL_ARGUMENTS {
            continue;
        }
        let Ok(value) = crate::json::from_str(text) else {
            continue;
        };
        let short = python_dumps(&shortened(value), Layout::UNICODE);
        if short != **text {
            function.arguments = Arguments::Text(short.into());
            is_changed = true;
        }
    }
    is_changed.then(|| {
        let mut now = answer.clone();
        now.calls = Calls::List(calls);
        now
    })
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if text.chars().count() > KEPT => {
            format!("{}...[truncated]", first_chars(&text, KEPT)).into()
        }
        Value::Object(fields) => {
            let fields = fields.into_iter();
            Value::Object(fields.map(|(key, value)| (key, shortened(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(shortened).collect(),
        other => other,
    }
}
