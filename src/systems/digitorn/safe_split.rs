//! Where a compaction may cut: never inside a chain of tool calls that the first kept message belongs to.

use super::estimate::has_calls;
use super::fault::{Fault, signed};
use crate::chat::ChatMessage;

/// How many of the newest messages stay when at least `keep_recent` should: the cut walks back over results and over
/// assistants that called tools. Only the first kept message is looked at.
///
/// # Errors
/// `IndexError`, as the original raises it for a `keep_recent` of 0 or less.
pub fn safe_keep(conversation: &[ChatMessage], keep_recent: i64) -> Result<usize, Fault> {
    let n = conversation.len();
    if keep_recent >= signed(n) {
        return Ok(n);
    }
    if keep_recent <= 0 {
        return Err(Fault::out_of_range());
    }
    let wanted = n - keep_recent as usize;
    let is_inside = |m: &ChatMessage| m.is("tool") || (m.is("assistant") && has_calls(m));
    let before = conversation.get(1..=wanted).unwrap_or_default();
    let split = before.iter().rposition(|m| !is_inside(m));
    Ok(n - split.map_or(0, |idx| idx + 1))
}

/// The system prompt, if the first message is one, and the rest.
pub(super) fn split_system(
    mut messages: Vec<ChatMessage>,
) -> (Option<ChatMessage>, Vec<ChatMessage>) {
    if messages.first().is_some_and(|m| m.is("system")) {
        let system = messages.remove(0);
        (Some(system), messages)
    } else {
        (None, messages)
    }
}
