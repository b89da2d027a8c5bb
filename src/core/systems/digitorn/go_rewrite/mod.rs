//! The later rewrite of Digitorn in Go, digitornai/digitorn @51fe8f4a: another estimate, another split, framed recaps.
//!
//! Messages are those of the conversation without the system prompt. Lengths are bytes, as Go counts them.

pub mod compact;
pub mod facts;
pub mod micro_compact;
pub mod recap;
pub mod split;

use crate::chat::{BlockBody, ChatMessage, Content};
use std::borrow::Cow;

/// Messages to keep by default.
// The numbers of this file are those of digitornai/digitorn 51fe8f4a, `contextcompact/compact.go` and `overflow.go`.
pub const KEEP_RECENT: i64 = 3;

/// Messages that an emergency always keeps.
const MIN_KEPT: i64 = 4;

/// Phrases of an error that identify an overflow, case-insensitive.
const OVERFLOWS: &[&str] = &[
    "maximum context length",
    "context_length_exceeded",
    "context window",
    "context length",
    "reduce the length of the messages",
    "too many tokens",
    "token limit",
    "prompt is too long",
];

/// Returns whether a provider's error is treated as an overflow.
pub fn is_context_overflow(error: &str) -> bool {
    let error = error.to_lowercase();
    OVERFLOWS.iter().any(|words| error.contains(words))
}

/// Returns the number of messages that an emergency keeps.
pub fn emergency_keep_recent(keep_recent: i64) -> i64 {
    let keep = if keep_recent <= 0 { KEEP_RECENT } else { keep_recent };
    (keep / 2).max(MIN_KEPT)
}

/// Returns the bytes of texts and roles plus 4 per message, / 4, rounded down once.
pub fn estimate_tokens(messages: &[ChatMessage]) -> u64 {
    let bytes = |m: &ChatMessage| message_text(m).len() + m.role.len() + 4;
    messages.iter().map(bytes).sum::<usize>() as u64 / 4
}

/// Returns a message's texts that are not empty, joined by spaces. Ignores calls and pictures.
pub(super) fn message_text(message: &ChatMessage) -> Cow<'_, str> {
    match &message.content {
        Content::Text(text) => Cow::Borrowed(&text.text),
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match &block.body {
                BlockBody::Text(text) => Some(&**text),
                BlockBody::Other(value) => value.get("text")?.as_str(),
                _ => None,
            });
            let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
            Cow::Owned(texts.join(" "))
        }
        Content::Missing | Content::Null | Content::Other(_) => Cow::Borrowed(""),
    }
}
