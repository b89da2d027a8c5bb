//! Marks messages for the provider's prompt cache.

use plimsoll::chat::{Block, BlockBody, ChatMessage, Content, Image};
use plimsoll::json::{Value, json};
use std::sync::Arc;

/// Number of messages with instructions to mark, from the first.
const FIRST_SYSTEM: usize = 2;
/// Number of other messages to mark, from the last.
const LAST_OTHERS: usize = 2;

/// `_apply_caching` with caching on: returns the messages as the client receives them, and the log lines. The client
/// removes the marks again, but a text converted to a list of one part remains a list.
pub(crate) fn mark_for_cache(mut messages: Vec<ChatMessage>) -> (Vec<ChatMessage>, Option<String>) {
    let (system, others): (Vec<usize>, Vec<usize>) =
        (0..messages.len()).partition(|&idx| messages[idx].is("system"));
    let system = &system[..system.len().min(FIRST_SYSTEM)];
    let others = &others[others.len().saturating_sub(LAST_OTHERS)..];
    let n = system.len() + others.len();
    if n == 0 {
        return (messages, None);
    }
    for &idx in system.iter().chain(others) {
        mark(&mut messages[idx].content);
    }
    let line = format!(
        "Prompt caching: {} system + {} final messages marked ({n} breakpoints)",
        system.len(),
        others.len()
    );
    (messages, Some(line))
}

/// Marks the last text of a content; a content with an existing mark keeps only that one.
fn mark(content: &mut Content) {
    match content {
        Content::Text(text) => {
            let block = Block { part: text.part, body: marked_text(&text.text) };
            *content = Content::Blocks(vec![block]);
        }
        Content::Blocks(blocks) if !blocks.iter().any(|b| has_mark(&b.body)) => {
            if let Some(block) = blocks.iter_mut().rev().find(|b| is_text(&b.body)) {
                block.body = match &block.body {
                    BlockBody::Text(text) => marked_text(text),
                    BlockBody::Other(value) => {
                        let mut value = value.clone();
                        value["cache_control"] = json!({"type": "ephemeral"});
                        BlockBody::Other(value)
                    }
                    other => other.clone(),
                };
            }
        }
        _ => {}
    }
}

fn marked_text(text: &Arc<str>) -> BlockBody {
    BlockBody::Other(json!({
        "type": "text",
        "text": &**text,
        "cache_control": {"type": "ephemeral"},
    }))
}

fn is_text(block: &BlockBody) -> bool {
    match block {
        BlockBody::Text(_) => true,
        BlockBody::Other(Value::Object(part)) => {
            part.get("type").and_then(Value::as_str) == Some("text")
        }
        _ => false,
    }
}

fn has_mark(block: &BlockBody) -> bool {
    let has = |part: &Value| part.get("cache_control").is_some();
    match block {
        BlockBody::Image(Image { json, .. }) => has(json),
        BlockBody::Other(part) | BlockBody::Thinking(part) => has(part),
        BlockBody::Text(_) | BlockBody::ToolUse { .. } | BlockBody::ToolResult { .. } => false,
    }
}
