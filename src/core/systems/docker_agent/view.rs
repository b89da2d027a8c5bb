//! Messages and results that a request omits. The session keeps them.

use crate::chat::{ChatMessage, Rule};
use crate::engine::{MessageEdit, Rewritten};
use std::collections::{BTreeSet, HashSet};

const PLACEHOLDER: &str = "[content truncated]";
/// Bytes of a token.
// As in docker-agent 1.32.3, `truncateOldToolContent` (`pkg/session/session.go`).
const TOKEN: u64 = 4;

const RULE: Rule = Rule::new("docker_agent: bytes");

/// Limits of a view.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewLimits {
    /// Messages besides instructions; 0 for no limit.
    pub(super) max_items: usize,
    /// Estimated tokens of tool results; 0 for no limit.
    pub(super) max_result_tokens: u64,
}

/// `GetMessages`: the messages of a request.
pub(super) fn view(all: &[ChatMessage], limits: ViewLimits) -> Vec<ChatMessage> {
    let trimmed = edited(all, trims(all, limits.max_items));
    let truncates = truncates(&trimmed, limits.max_result_tokens);
    edited(&trimmed, truncates)
}

fn edited(all: &[ChatMessage], edits: Vec<MessageEdit>) -> Vec<ChatMessage> {
    let done = Rewritten { edits: edits.into(), ..Rewritten::default() };
    done.after(all).unwrap_or_else(|| all.to_vec())
}

/// `trimMessages`: removes the oldest answers and results, and results without their answer. Requests are kept.
pub(super) fn trims(all: &[ChatMessage], max_items: usize) -> Vec<MessageEdit> {
    let n_items = all.iter().filter(|message| !message.is("system")).count();
    if max_items == 0 || n_items <= max_items {
        return Vec::new();
    }
    let oldest = (0..all.len()).filter(|at| all[*at].is("assistant") || all[*at].is("tool"));
    let oldest: BTreeSet<usize> = oldest.take(n_items - max_items).collect();
    let calls = oldest.iter().flat_map(|at| all[*at].calls());
    let calls: HashSet<&str> = calls.filter_map(|call| call.id.as_deref()).collect();
    let is_orphan = |message: &ChatMessage| {
        let id = message.call_id.as_deref();
        message.is("tool") && id.is_some_and(|id| calls.contains(id))
    };
    let is_removed = |at: &usize| oldest.contains(at) || is_orphan(&all[*at]);
    let removed = (0..all.len()).filter(is_removed);
    removed.map(|at| MessageEdit { at, now: None }).collect()
}

/// `truncateOldToolContent`: replaces results that the newest ones leave no tokens for.
pub(super) fn truncates(all: &[ChatMessage], max_tokens: u64) -> Vec<MessageEdit> {
    let mut left = max_tokens;
    let mut edits = Vec::new();
    for (at, message) in all.iter().enumerate().rev() {
        if max_tokens == 0 || !message.is("tool") {
            continue;
        }
        let tokens = message.weigh(RULE, |m| m.joined_text("").len() as u64) / TOKEN;
        if left < tokens {
            let now = Some(message.with_text(PLACEHOLDER));
            edits.push(MessageEdit { at, now });
        }
        left = left.saturating_sub(tokens);
    }
    edits.reverse();
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::testing::texts;

    fn history(messages: &[(&str, &str)]) -> Vec<ChatMessage> {
        let message = |(role, text): &(&str, &str)| ChatMessage::new(role, *text);
        messages.iter().map(message).collect()
    }

    #[test]
    fn removes_the_oldest_but_requests() {
        let all = history(&[
            ("system", "S"),
            ("user", "u1"),
            ("assistant", "a1"),
            ("user", "u2"),
            ("assistant", "a2"),
        ]);
        let left = |max| texts(&edited(&all, trims(&all, max)));
        assert_eq!(left(4), ["S", "u1", "a1", "u2", "a2"]);
        assert_eq!(left(3), ["S", "u1", "u2", "a2"]);
        assert_eq!(left(1), ["S", "u1", "u2"]);
    }

    #[test]
    fn keeps_the_newest_results_and_tiny_ones() {
        let all = history(&[
            ("tool", "old"),
            ("tool", "12345678"),
            ("tool", "123456789012"),
            ("tool", "1234"),
        ]);
        let left = |max| texts(&edited(&all, truncates(&all, max)));
        assert_eq!(left(6), ["old", "12345678", "123456789012", "1234"]);
        assert_eq!(left(5), ["old", PLACEHOLDER, "123456789012", "1234"]);
        assert_eq!(left(3), ["old", PLACEHOLDER, PLACEHOLDER, "1234"]);
    }
}
