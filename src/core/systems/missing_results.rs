//! Results that several systems add to a request for calls without one.

use crate::chat::{Call, ChatMessage, Messages, Rule};
use std::sync::Arc;

/// The position of added results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultPosition {
    /// Behind the results that the answer has.
    Last,
    /// In the order of the calls, as the results that the answer has.
    InOrder,
}

const COMPLETE: Rule = Rule::new("systems: every call has a result");

/// The messages read so far.
#[derive(Clone, Default)]
struct Read {
    n: usize,
    /// Calls of the last answer without a result so far.
    open: Vec<Option<Arc<str>>>,
    lacks_result: bool,
}

/// Returns whether every call has a result directly behind its answer. Looks only at messages added since the last call.
fn is_complete(messages: &Messages) -> bool {
    let read = messages.updated_state(COMPLETE, |read: &mut Read, messages| {
        for message in &messages[read.n..] {
            if message.is("tool") {
                read.open.retain(|id| *id != message.call_id);
            } else {
                read.lacks_result |= !read.open.is_empty();
                read.open = message.calls().iter().map(|call| call.id.clone()).collect();
            }
        }
        read.n = messages.len();
    });
    !read.lacks_result && read.open.is_empty()
}

/// Returns the conversation with a result of this text for each call without one; `None` if every call has one.
pub(super) fn add_missing(
    messages: &Messages,
    text: &str,
    place: ResultPosition,
) -> Option<Vec<ChatMessage>> {
    if is_complete(messages) {
        return None;
    }
    let mut all: Option<Vec<ChatMessage>> = None;
    let mut at = 0;
    while let Some(answer) = messages.get(at) {
        let behind = &messages[at + 1..];
        let results = &behind[..behind.iter().take_while(|m| m.is("tool")).count()];
        let answers = |call: &Call| {
            let is_it = |result: &&ChatMessage| result.call_id == call.id;
            results.iter().find(is_it)
        };
        let calls = answer.calls();
        if calls.iter().any(|call| answers(call).is_none()) {
            let all = all.get_or_insert_with(|| messages[..at].to_vec());
            all.push(answer.clone());
            let missing = |call| ChatMessage::notice_result(call, text);
            let is_of_none =
                |result: &&ChatMessage| calls.iter().all(|call| call.id != result.call_id);
            match place {
                ResultPosition::Last => {
                    all.extend_from_slice(results);
                    let open = calls.iter().filter(|call| answers(call).is_none());
                    all.extend(open.map(missing));
                }
                ResultPosition::InOrder => {
                    let result =
                        |call| answers(call).map_or_else(|| missing(call), ChatMessage::clone);
                    all.extend(calls.iter().map(result));
                    all.extend(results.iter().filter(is_of_none).cloned());
                }
            }
        } else if let Some(all) = &mut all {
            all.push(answer.clone());
            all.extend_from_slice(results);
        }
        at += 1 + results.len();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::{Value, json};

    fn conversation() -> Messages {
        let call = |id: &str| json!({"id": id, "function": {"name": "f", "arguments": "{}"}});
        let messages: [Value; 5] = [
            json!({"role": "user", "content": "go"}),
            json!({"role": "assistant", "tool_calls": [call("a"), call("b")]}),
            json!({"role": "tool", "tool_call_id": "b", "content": "done"}),
            json!({"role": "user", "content": "on"}),
            json!({"role": "assistant", "content": "ok"}),
        ];
        let messages = messages.iter().map(message_from_json);
        messages.collect::<Vec<_>>().into()
    }

    fn ids(messages: &[ChatMessage]) -> Vec<&str> {
        messages.iter().filter_map(|m| m.call_id.as_deref()).collect()
    }

    #[test]
    fn a_call_without_a_result_gets_one_in_place() {
        let all = conversation();
        let last = add_missing(&all, "none", ResultPosition::Last).unwrap();
        assert_eq!((ids(&last), last.len()), (vec!["b", "a"], 6));
        let in_order = add_missing(&all, "none", ResultPosition::InOrder).unwrap();
        assert_eq!(ids(&in_order), ["a", "b"]);
        assert!(in_order[5].text() == Some("ok") && in_order[2].text() == Some("none"));
    }

    #[test]
    fn a_conversation_with_all_results_is_unchanged() {
        let all = conversation();
        let rest = all[3..].to_vec().into();
        assert!(add_missing(&rest, "none", ResultPosition::Last).is_none());
    }
}
