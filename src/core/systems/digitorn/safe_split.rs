//! Position of the cut: never inside a chain of tool calls that contains the first kept message.
//!
//! A chain is a run of results and of answers with calls. The cut moves back to the last message outside of any chain,
//! whose positions are remembered, since a conversation mostly grows.

use super::estimate::has_calls;
use crate::chat::{ChatMessage, Messages, Rule};
use crate::languages::python::{PythonError, signed};

/// Returns the number of newest messages to keep, at least `keep_recent`: the cut moves back over results and over
/// assistant messages with calls. Looks only at the first kept message.
///
/// # Errors
/// `IndexError`, as the original raises it for a `keep_recent` of 0 or less.
pub fn safe_keep(conversation: &[ChatMessage], keep_recent: i64) -> Result<usize, PythonError> {
    keep(conversation.len(), keep_recent, |wanted| {
        let before = conversation.get(1..=wanted).unwrap_or_default();
        before.iter().rposition(|m| !is_inside(m)).map(|idx| idx + 1)
    })
}

const OUTSIDE: Rule = Rule::new("digitorn: outside of chains");

/// Returns [`safe_keep`] of the messages after the system prompt. Looks only at messages added since the last call.
///
/// # Errors
/// As [`safe_keep`].
pub(super) fn safe_keep_behind_system(
    messages: &Messages,
    keep_recent: i64,
) -> Result<usize, PythonError> {
    /// Number of messages read, and those among them outside of chains.
    #[derive(Clone, Default)]
    struct Outside(usize, Vec<usize>);
    let outside = messages.updated_state(OUTSIDE, |Outside(seen, outside), messages| {
        let new = messages.iter().enumerate().skip(*seen);
        outside.extend(new.filter(|(_, m)| !is_inside(m)).map(|(at, _)| at));
        *seen = messages.len();
    });
    let (system, conversation) = split_system(messages);
    let n_system = usize::from(system.is_some());
    keep(conversation.len(), keep_recent, |wanted| {
        let n_before = outside.1.partition_point(|at| *at <= n_system + wanted);
        let last = outside.1[..n_before].last()?;
        last.checked_sub(n_system).filter(|at| *at > 0)
    })
}

/// Returns the number of messages to keep. `last_outside` finds the last message outside of chains, from the second to
/// the given one.
fn keep(
    n: usize,
    keep_recent: i64,
    last_outside: impl FnOnce(usize) -> Option<usize>,
) -> Result<usize, PythonError> {
    if keep_recent >= signed(n) {
        return Ok(n);
    }
    if keep_recent <= 0 {
        return Err(PythonError::out_of_range());
    }
    let split = last_outside(n - keep_recent as usize);
    Ok(n - split.unwrap_or(0))
}

/// Returns whether a message belongs to a chain of calls.
fn is_inside(message: &ChatMessage) -> bool {
    message.is("tool") || (message.is("assistant") && has_calls(message))
}

/// Splits off the system prompt, if the first message is one.
pub(super) fn split_system(messages: &[ChatMessage]) -> (Option<&ChatMessage>, &[ChatMessage]) {
    match messages {
        [system, rest @ ..] if system.is("system") => (Some(system), rest),
        _ => (None, messages),
    }
}
