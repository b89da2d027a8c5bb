//! Shortening of long messages, which the original contains but never calls.

use plimsoll::chat::ChatMessage;
use plimsoll::languages::python::{PythonError, first_chars, last_chars};

/// Characters from which a message is snipped by default.
pub(super) const THRESHOLD: i64 = 16_000;

/// Number of newest messages that are not changed.
const N_UNCHANGED: usize = 4;

/// Characters kept of a tool result: head and tail.
const RESULT_CHARS: (usize, usize) = (6_000, 2_000);

/// Characters kept of other messages: head and tail.
const OTHER_CHARS: (usize, usize) = (4_000, 1_000);

/// Keeps head and tail of messages beyond a threshold. Returns the number of snipped messages.
/// Raises an `IndexError` on an empty conversation, as the original does.
pub(super) fn snip_oversized(
    messages: &mut [ChatMessage],
    threshold: i64,
) -> Result<usize, PythonError> {
    if messages.is_empty() {
        return Err(PythonError::new("IndexError", "list index out of range"));
    }
    let end = messages.len().saturating_sub(N_UNCHANGED).max(1);
    let mut snipped = 0;
    for message in messages.iter_mut().take(end) {
        let Some(text) = message.text().filter(|_| !message.is("system")) else {
            continue;
        };
        let chars = text.chars().count();
        if i64::try_from(chars).is_ok_and(|chars| chars <= threshold) {
            continue;
        }
        let ((first, last), of) = if message.is("tool") {
            (RESULT_CHARS, " from tool result")
        } else {
            (OTHER_CHARS, "")
        };
        let snipped_text = format!(
            "{}\n\n[... {} characters snipped{of} ...]\n\n{}",
            first_chars(text, first),
            chars.cast_signed() - (first + last).cast_signed(),
            last_chars(text, last)
        );
        *message = message.with_text(snipped_text);
        snipped += 1;
    }
    Ok(snipped)
}
