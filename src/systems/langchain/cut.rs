//! The position of the cut between summarized and kept messages.

use super::estimate::{scaled_total, total};
use crate::chat::ChatMessage;

/// The amount of messages to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Messages(usize),
    Tokens(u64),
}

/// Returns the first kept message; 0 if nothing is removed.
pub(super) fn cut(messages: &[ChatMessage], keep: Keep, reported: u64) -> usize {
    let n = messages.len();
    match keep {
        Keep::Messages(keep) if n <= keep => 0,
        Keep::Messages(keep) => without_torn_pairs(messages, n - keep),
        Keep::Tokens(target) => {
            let target = target.max(1);
            if n < 2 || scaled_total(messages, total(messages), reported) <= target {
                return 0;
            }
            let fits = |start: &usize| total(&messages[*start..]) <= target;
            let first = (0..n).find(fits).unwrap_or(n - 1);
            without_torn_pairs(messages, first)
        }
    }
}

/// Moves a cut at tool results back to the answer with one of their calls, else behind the results.
fn without_torn_pairs(messages: &[ChatMessage], cut: usize) -> usize {
    let results = messages[cut..].iter().take_while(|m| m.is("tool"));
    let ids: Vec<_> = results
        .filter_map(|result| result.call_id.as_deref())
        .collect();
    if !messages.get(cut).is_some_and(|m| m.is("tool")) {
        return cut;
    }
    let has_call = |message: &ChatMessage| {
        let mut calls = message.calls().iter();
        calls.any(|call| call.id.as_deref().is_some_and(|id| ids.contains(&id)))
    };
    let n_results = messages[cut..].iter().take_while(|m| m.is("tool")).count();
    let answer = messages[..cut].iter().rposition(has_call);
    answer.unwrap_or(cut + n_results)
}
