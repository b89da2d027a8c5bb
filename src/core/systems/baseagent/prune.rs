//! Clears old tool results, newest first, beyond the protected turns and the protected tokens.

use super::Limits;
use super::estimate::whole_content_tokens;
use crate::chat::ChatMessage;
use crate::languages::python::PythonError;
use crate::units::Tokens;
use std::ops::Range;

/// Text that replaces a cleared result.
pub const MARKER: &str = "[Old tool result content cleared]";

/// Whether the scan stops at a result cleared earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAtMarker {
    /// The scan ends there and older results are unchanged. The shipped code.
    Yes,
    /// It counts like any other result. The document's listing.
    No,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruned {
    /// The messages afterwards; `None` if they are the given list.
    pub messages: Option<Vec<ChatMessage>>,
    /// Indices of the cleared messages, oldest first.
    pub cleared: Vec<usize>,
    /// Tokens of the scanned results.
    pub total: Tokens,
    /// Tokens of the results beyond protection; the marker's own tokens are not subtracted.
    pub prunable: Tokens,
    /// Log lines.
    pub log: Vec<String>,
}

/// `prune_old_tool_outputs`.
///
/// Each user message counts as a turn, regardless of its origin, so the scan covers only results before the
/// `protected_turns`th newest of them. It clears the result that crosses the protected tokens.
///
/// # Errors
/// The original's exception if a content is a number.
pub fn prune_old_tool_outputs(
    messages: &[ChatMessage],
    limits: &Limits,
    stop_at_marker: StopAtMarker,
) -> Result<Pruned, PythonError> {
    if messages.is_empty() {
        return Ok(Pruned::default());
    }
    let mut results = Results::default();
    results.extend(messages);
    let found = results.scan(messages, limits, stop_at_marker)?;
    let (is_enough, log) = found.judge(limits);
    let indices = found.old.filter(|_| is_enough);
    let indices: Vec<usize> = indices.map(|nth| results.message_index(nth)).collect();
    Ok(Pruned {
        messages: is_enough.then(|| cleared(messages, &indices)),
        cleared: indices,
        total: found.total,
        prunable: found.prunable,
        log,
    })
}

/// Index of a conversation's results and user messages, extended as it grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    /// Number of indexed messages.
    n: usize,
    /// Indices of the user messages.
    users: Vec<usize>,
    /// Indices of the results.
    indices: Vec<usize>,
    /// Sums of tokens before each result, then the sum of all.
    sums: Vec<u64>,
    /// Numbers of the results that contain only the marker.
    markers: Vec<usize>,
    /// Numbers of the results that cannot be counted.
    raising: Vec<usize>,
}

/// The results that a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Numbers of the results beyond protection.
    pub(super) old: Range<usize>,
    /// Tokens of the scanned results.
    pub(super) total: Tokens,
    /// Tokens of the results beyond protection.
    pub(super) prunable: Tokens,
}

impl Results {
    /// Indexes the new messages.
    pub(super) fn extend(&mut self, messages: &[ChatMessage]) {
        for (index, message) in messages.iter().enumerate().skip(self.n) {
            if message.is("user") {
                self.users.push(index);
            } else if message.is("tool") {
                let nth = self.indices.len();
                let tokens = whole_content_tokens(message).unwrap_or_else(|_| {
                    self.raising.push(nth);
                    Tokens::ZERO
                });
                if message.text() == Some(MARKER) {
                    self.markers.push(nth);
                }
                let sum = self.sum_before(nth) + tokens.0;
                self.indices.push(index);
                self.sums.push(sum);
            }
        }
        self.n = messages.len();
    }

    /// Returns the message index of a result.
    pub(super) fn message_index(&self, nth: usize) -> usize {
        self.indices[nth]
    }

    fn sum_before(&self, nth: usize) -> u64 {
        nth.checked_sub(1).map_or(0, |last| self.sums[last])
    }

    /// Returns the scanned range: from the newest old enough result back to a marker, if that stops the scan.
    fn scanned(&self, protected_turns: i64, stop_at_marker: StopAtMarker) -> Range<usize> {
        let end = match usize::try_from(protected_turns) {
            Ok(n @ 1..) => match self.users.len().checked_sub(n) {
                Some(nth) => {
                    let user = self.users[nth];
                    self.indices.partition_point(|index| *index < user)
                }
                None => 0,
            },
            _ => self.indices.len(),
        };
        let n_markers = self.markers.partition_point(|nth| *nth < end);
        let marker = n_markers.checked_sub(1).map(|last| self.markers[last]);
        let marker = marker.filter(|_| stop_at_marker == StopAtMarker::Yes);
        marker.map_or(0, |marker| marker + 1)..end
    }

    /// Scans the indexed messages.
    pub(super) fn scan(
        &self,
        messages: &[ChatMessage],
        limits: &Limits,
        stop_at_marker: StopAtMarker,
    ) -> Result<Found, PythonError> {
        let scanned = self.scanned(limits.protected_turns, stop_at_marker);
        let raising = self.raising.iter().rev().find(|nth| scanned.contains(nth));
        if let Some(nth) = raising {
            whole_content_tokens(&messages[self.indices[*nth]])?;
        }
        let Range { start, end } = scanned;
        let with_newer = |nth| Tokens(self.sum_before(end) - self.sum_before(nth));
        let is_protected = |nth: &usize| !exceeds(with_newer(*nth), limits.protect);
        let n_protected = (start..end).rev().take_while(is_protected).count();
        let old = start..end - n_protected;
        Ok(Found {
            total: with_newer(start),
            prunable: Tokens(self.sum_before(old.end) - self.sum_before(start)),
            old,
        })
    }
}

impl Found {
    /// Returns whether clearing is worth it, with the log lines.
    pub(super) fn judge(&self, limits: &Limits) -> (bool, Vec<String>) {
        let Self { old, total, prunable } = self;
        let is_enough = exceeds(*prunable, limits.minimum);
        let log = vec![
            format!("[compaction] Prune scan: {} total tokens, {} prunable", total.0, prunable.0),
            if is_enough {
                format!(
                    "[compaction] Pruning {} tool outputs, recovering ~{} tokens",
                    old.len(),
                    prunable.0
                )
            } else {
                format!(
                    "[compaction] Prune skipped: only {} tokens recoverable (min: {})",
                    prunable.0, limits.minimum
                )
            },
        ];
        (is_enough, log)
    }
}

fn exceeds(tokens: Tokens, limit: i64) -> bool {
    i128::from(tokens.0) > i128::from(limit)
}

fn cleared(messages: &[ChatMessage], indices: &[usize]) -> Vec<ChatMessage> {
    let mut messages = messages.to_vec();
    for &idx in indices {
        messages[idx] = messages[idx].with_text(MARKER);
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_is_returned_without_log_lines() {
        let pruned = prune_old_tool_outputs(&[], &Limits::SHIPPED, StopAtMarker::Yes);
        assert_eq!(pruned, Ok(Pruned::default()));
    }

    #[test]
    fn in_the_document_a_marker_does_not_end_the_scan() {
        let limits = Limits { protect: 0, minimum: 0, protected_turns: 0, ..Limits::SHIPPED };
        let messages =
            [ChatMessage::new("tool", "an old result"), ChatMessage::new("tool", MARKER)];
        let cleared = |stop| prune_old_tool_outputs(&messages, &limits, stop).unwrap().cleared;
        assert_eq!(cleared(StopAtMarker::Yes), Vec::<usize>::new());
        assert_eq!(cleared(StopAtMarker::No), [0, 1]);
    }
}
