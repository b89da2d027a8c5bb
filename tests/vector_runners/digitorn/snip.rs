//! The mild shortening of long messages, which the shipped code contains but never calls.

use crate::chat::ChatMessage;
use crate::systems::python::{PythonError, head, signed, tail};

/// Characters from which a message is snipped by default.
pub const THRESHOLD: i64 = 16_000;

/// Number of newest messages that are not changed.
const SPARED: usize = 4;

/// Characters kept of a tool result: head and tail.
const OF_RESULTS: (usize, usize) = (6_000, 2_000);

/// Characters kept of other messages: head and tail.
const OF_OTHERS: (usize, usize) = (4_000, 1_000);

/// Keeps head and tail of messages beyond a threshold. Returns the number of snipped messages.
///
/// # Errors
/// `IndexError` on an empty conversation, as the original raises it.
pub fn snip_oversized(messages: &mut [ChatMessage], threshold: i64) -> Result<usize, PythonError> {
    if messages.is_empty() {
        return Err(PythonError::out_of_range());
    }
    let end = messages.len().saturating_sub(SPARED).max(1);
    let mut snipped = 0;
    for message in messages.iter_mut().take(end) {
        let Some(text) = message.text().filter(|_| !message.is("system")) else {
            continue;
        };
        let chars = signed(text.chars().count());
        if chars <= threshold {
            continue;
        }
        let ((first, last), of) = if message.is("tool") {
            (OF_RESULTS, " from tool result")
        } else {
            (OF_OTHERS, "")
        };
        let snipped_text = format!(
            "{}\n\n[... {} characters snipped{of} ...]\n\n{}",
            head(text, first),
            chars - signed(first + last),
            tail(text, last)
        );
        *message = message.with_text(snipped_text);
        snipped += 1;
    }
    Ok(snipped)
}
