//! Replaces old, large tool results with one line; drops nothing.

use crate::chat::{BlockBody, ChatMessage, Content};

/// Number of newest results to keep whole.
// The numbers of this file are those of digitornai/digitorn 51fe8f4a, `contextcompact/microcompact.go`.
pub const KEEP_RESULTS: i64 = 3;

/// Size in bytes from which a result is large.
pub const MIN_BYTES: i64 = 4_096;

/// Returns the messages as sent, and the elided ones.
pub fn micro_compact(
    mut messages: Vec<ChatMessage>,
    keep_results: i64,
    min_bytes: i64,
) -> (Vec<ChatMessage>, Vec<usize>) {
    let keep = keep_results.max(0) as usize;
    let least = if min_bytes <= 0 { MIN_BYTES } else { min_bytes } as usize;
    let results = messages.iter().enumerate().filter(|(_, m)| m.is("tool"));
    let mut old: Vec<usize> = results.map(|(idx, _)| idx).collect();
    old.truncate(old.len().saturating_sub(keep));
    old.retain(|idx| messages.get(*idx).is_some_and(|m| bytes(m) >= least));
    for message in old.iter().copied() {
        let Some(result) = messages.get_mut(message) else {
            continue;
        };
        let line = format!(
            "[tool output elided to save context — {} chars. Re-run the tool if you need it again.]",
            bytes(result)
        );
        *result = result.with_text(line);
    }
    (messages, old)
}

/// Returns the bytes of its texts.
fn bytes(message: &ChatMessage) -> usize {
    match &message.content {
        Content::Text(text) => text.text.len(),
        Content::Blocks(blocks) => {
            let text = |body: &BlockBody| match body {
                BlockBody::Text(text) => text.len(),
                _ => 0,
            };
            blocks.iter().map(|block| text(&block.body)).sum()
        }
        Content::Missing | Content::Null | Content::Other(_) => 0,
    }
}
