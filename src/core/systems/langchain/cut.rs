//! The boundary between summarized and kept messages.

use super::estimate::total;
use crate::chat::ChatMessage;

/// The amount of recent messages to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// At most this number of messages.
    Messages(usize),
    /// Messages of at most this number of tokens.
    Tokens(u64),
}

/// Returns the index of the first kept message; 0 if nothing is removed. `scaled_total` is the estimate of all messages,
/// scaled to reported usage.
pub(crate) fn cut(messages: &[ChatMessage], keep: Keep, scaled_total: u64) -> usize {
    let n = messages.len();
    match keep {
        Keep::Messages(keep) if n <= keep => 0,
        Keep::Messages(keep) => without_torn_pairs(messages, n - keep),
        Keep::Tokens(target) => {
            let target = target.max(1);
            if n < 2 || scaled_total <= target {
                return 0;
            }
            let fits = |start: &usize| total(&messages[*start..]) <= target;
            // The original searches by bisection. A later start never has more tokens, so that both find the same.
            let first = (0..n).find(fits).unwrap_or(n - 1);
            without_torn_pairs(messages, first)
        }
    }
}

/// Moves a cut at tool results back to the answer with one of their calls, or behind the results if no answer has one.
fn without_torn_pairs(messages: &[ChatMessage], cut: usize) -> usize {
    let results = messages[cut..].iter().take_while(|m| m.is("tool"));
    let n_results = results.clone().count();
    if n_results == 0 {
        return cut;
    }
    let ids: Vec<_> = results.filter_map(|result| result.call_id.as_deref()).collect();
    let has_call = |message: &ChatMessage| {
        let mut calls = message.calls().iter();
        calls.any(|call| call.id.as_deref().is_some_and(|id| ids.contains(&id)))
    };
    let answer = messages[..cut].iter().rposition(has_call);
    answer.unwrap_or(cut + n_results)
}
