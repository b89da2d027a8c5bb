//! Clearing old tool results, newest first, beyond the protected turns and the protected tokens.

use super::estimate::whole_content_tokens;
use super::{Limits, PythonError};
use crate::chat::ChatMessage;
use crate::units::Tokens;

/// What stands in the place of a cleared result.
pub const MARKER: &str = "[Old tool result content cleared]";

/// What a result that was cleared before does to the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAtMarker {
    /// The scan ends there: older results stay as they are. The shipped code.
    Yes,
    /// It counts like any other result. The document's listing.
    No,
}

/// What came of a scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruned {
    /// The messages afterwards; none if they are the very list that was given.
    pub messages: Option<Vec<ChatMessage>>,
    /// Places of the cleared messages, oldest first.
    pub cleared: Vec<usize>,
    /// Tokens of the results that were looked at.
    pub total: Tokens,
    /// Tokens of those beyond protection; the marker's own weight is not taken off.
    pub prunable: Tokens,
    /// What it logs.
    pub log: Vec<String>,
}

/// `prune_old_tool_outputs`.
///
/// Turns are counted at each message of the user, whoever wrote it, so results are looked at only beyond the
/// `protected_turns`th newest of them. The result that crosses the protected tokens is itself cleared.
///
/// # Errors
/// What the original raises where a content is a number.
pub fn prune_old_tool_outputs(
    messages: &[ChatMessage],
    limits: &Limits,
    stop_at_marker: StopAtMarker,
) -> Result<Pruned, PythonError> {
    if messages.is_empty() {
        return Ok(Pruned::default());
    }
    let mut pruned = scan(messages, limits, stop_at_marker)?;
    let Pruned {
        total, prunable, ..
    } = pruned;
    let mut log = vec![format!(
        "[compaction] Prune scan: {} total tokens, {} prunable",
        total.0, prunable.0
    )];
    if exceeds(prunable, limits.minimum) {
        log.push(format!(
            "[compaction] Pruning {} tool outputs, recovering ~{} tokens",
            pruned.cleared.len(),
            prunable.0
        ));
        pruned.messages = Some(cleared(messages, &pruned.cleared));
    } else {
        log.push(format!(
            "[compaction] Prune skipped: only {} tokens recoverable (min: {})",
            prunable.0, limits.minimum
        ));
        pruned.cleared.clear();
    }
    Ok(Pruned { log, ..pruned })
}

fn scan(
    messages: &[ChatMessage],
    limits: &Limits,
    stop_at_marker: StopAtMarker,
) -> Result<Pruned, PythonError> {
    let mut pruned = Pruned::default();
    let mut turns = 0;
    for (idx, message) in messages.iter().enumerate().rev() {
        if message.is("user") {
            turns += 1;
        }
        if turns < limits.protected_turns || !message.is("tool") {
            continue;
        }
        if stop_at_marker == StopAtMarker::Yes && message.text() == Some(MARKER) {
            break;
        }
        let tokens = whole_content_tokens(message)?;
        pruned.total += tokens;
        if exceeds(pruned.total, limits.protect) {
            pruned.prunable += tokens;
            pruned.cleared.push(idx);
        }
    }
    pruned.cleared.reverse();
    Ok(pruned)
}

fn exceeds(tokens: Tokens, limit: i64) -> bool {
    i128::from(tokens.0) > i128::from(limit)
}

fn cleared(messages: &[ChatMessage], places: &[usize]) -> Vec<ChatMessage> {
    let mut messages = messages.to_vec();
    for &idx in places {
        messages[idx] = messages[idx].with_text(MARKER);
    }
    messages
}

/// How many results hold nothing but the marker.
pub fn n_cleared(messages: &[ChatMessage]) -> usize {
    let is_cleared = |m: &&ChatMessage| m.is("tool") && m.text() == Some(MARKER);
    messages.iter().filter(is_cleared).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_is_returned_without_a_word() {
        let pruned = prune_old_tool_outputs(&[], &Limits::SHIPPED, StopAtMarker::Yes);
        assert_eq!(pruned, Ok(Pruned::default()));
    }

    #[test]
    fn in_the_document_a_marker_does_not_end_the_scan() {
        let limits = Limits {
            protect: 0,
            minimum: 0,
            protected_turns: 0,
            ..Limits::SHIPPED
        };
        let messages = [
            ChatMessage::new("tool", "an old result"),
            ChatMessage::new("tool", MARKER),
        ];
        let cleared = |stop| {
            prune_old_tool_outputs(&messages, &limits, stop)
                .unwrap()
                .cleared
        };
        assert_eq!(cleared(StopAtMarker::Yes), Vec::<usize>::new());
        assert_eq!(cleared(StopAtMarker::No), [0, 1]);
    }
}
