//! The read path: selects the messages of the stored history to send, so that a provider never receives a call without
//! its results.
//!
//! The store itself is unchanged, including orphans.

use super::Edition;
use super::message::{call_id, calls_tools, id_of};
use crate::chat::ChatMessage;
use std::collections::HashSet;

/// Returns the indices of the messages to send, in order.
pub fn sent(history: &[ChatMessage], edition: Edition) -> Vec<usize> {
    complete_groups(history, &in_order(history), edition)
}

/// Removes the messages that are not sent from a copy of the history.
pub fn sanitize(history: &mut Vec<ChatMessage>, edition: Edition) {
    let mut sent = sent(history, edition).into_iter().peekable();
    let mut idx = 0..;
    history.retain(|_| idx.next().is_some_and(|idx| sent.next_if_eq(&idx).is_some()));
}

/// Leaves out messages at positions that a provider does not expect: system messages; results that follow no call;
/// calls that follow neither a user message nor a result.
fn in_order(history: &[ChatMessage]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::with_capacity(history.len());
    let mut is_answering = false;
    for (idx, message) in history.iter().enumerate() {
        let last = kept.last().map(|last| &history[*last]);
        let stays = match &*message.role {
            "system" => false,
            "tool" => is_answering,
            "assistant" if calls_tools(message) => {
                last.is_some_and(|last| last.is("user") || last.is("tool"))
            }
            _ => true,
        };
        if stays {
            kept.push(idx);
            if !message.is("tool") {
                is_answering = calls_tools(message);
            }
        }
    }
    kept
}

/// Leaves out calls with a missing result, and their other results.
fn complete_groups(history: &[ChatMessage], kept: &[usize], edition: Edition) -> Vec<usize> {
    let mut sent = Vec::with_capacity(kept.len());
    let mut rest = kept;
    while let Some((&idx, behind)) = rest.split_first() {
        rest = behind;
        if !calls_tools(&history[idx]) {
            // As built, a result that belongs to no call is left out here.
            if edition != Edition::After || !history[idx].is("tool") {
                sent.push(idx);
            }
            continue;
        }
        let n_results = behind.iter().take_while(|k| history[**k].is("tool")).count();
        let (results, behind) = behind.split_at(n_results);
        rest = behind;
        if let Some(results) = answers(history, idx, results, edition) {
            sent.push(idx);
            sent.extend(results);
        }
    }
    sent
}

/// Returns the results that are sent with a call; `None` if one is missing. Before, all following results are sent; as
/// built, only the first result of each call.
fn answers(
    history: &[ChatMessage],
    calling: usize,
    results: &[usize],
    edition: Edition,
) -> Option<Vec<usize>> {
    let ids: Vec<&str> = history[calling].calls().iter().map(id_of).collect();
    let id_at = |idx: usize| call_id(&history[idx]);
    // Usually, one result answers one call.
    if let ([id], [result]) = (&*ids, results) {
        let is_sent = *id == id_at(*result) && (edition != Edition::After || !id.is_empty());
        return is_sent.then(|| results.to_vec());
    }
    let answered: HashSet<&str> = results.iter().map(|idx| id_at(*idx)).collect();
    if !ids.iter().all(|id| answered.contains(id)) {
        return None;
    }
    if edition != Edition::After {
        return Some(results.to_vec());
    }
    if ids.contains(&"") {
        return None;
    }
    // An id leaves the set with its first result.
    let mut open: HashSet<&str> = ids.into_iter().collect();
    let first = results.iter().copied().filter(|idx| open.remove(id_at(*idx)));
    Some(first.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::{Value, json};

    fn history(messages: &Value) -> Vec<ChatMessage> {
        let messages = messages.as_array().unwrap().iter();
        messages.map(message_from_json).collect()
    }

    #[test]
    fn doubled_and_unknown_results_are_sent_before_and_not_as_built() {
        let history = history(&json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]},
            {"role": "tool", "tool_call_id": "a"},
            {"role": "tool", "tool_call_id": "a"},
            {"role": "tool", "tool_call_id": "z"},
            {"role": "tool"},
            {"role": "tool", "tool_call_id": "b"},
        ]));
        assert_eq!(sent(&history, Edition::Before), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(sent(&history, Edition::After), [0, 1, 2, 6]);
    }

    #[test]
    fn an_empty_id_that_is_answered_passes_before_only() {
        let history = history(&json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "tool_calls": [{"id": ""}]},
            {"role": "tool", "tool_call_id": ""},
        ]));
        assert_eq!(sent(&history, Edition::Before), [0, 1, 2]);
        assert_eq!(sent(&history, Edition::After), [0]);
    }

    #[test]
    fn ids_may_be_used_again_in_a_later_turn() {
        let history = history(&json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "tool_calls": [{"id": "a"}]},
            {"role": "tool", "tool_call_id": "a"},
            {"role": "assistant", "tool_calls": [{"id": "a"}]},
            {"role": "tool", "tool_call_id": "a"},
        ]));
        assert_eq!(sent(&history, Edition::After), [0, 1, 2, 3, 4]);
    }
}
