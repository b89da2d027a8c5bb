//! The summary request: the conversation as text, with fewer results after an overflow.

use crate::chat::{ChatMessage, SummaryRequest, result_of_call};
use std::collections::BTreeSet;

/// Percentages of results that are left out, one after the other, while the request overflows.
// As in Goose 1.37.0, `crates/goose/src/context_mgmt/mod.rs`.
pub(super) const REMOVED: [usize; 5] = [0, 10, 20, 50, 100];

const PROMPT: &str = include_str!("prompt.txt");
const PLACE: &str = "{{ messages }}";
const QUESTION: &str = "Please summarize the conversation history provided in the system prompt.";

/// Returns the request for a summary of a history, without a percentage of its results. `n_joined` is the number of
/// messages whose text and first call are one message.
pub(super) fn summary_request(
    history: &[ChatMessage],
    n_joined: usize,
    removed: usize,
) -> SummaryRequest {
    let lines = lines(history, n_joined);
    let results: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].is_result).collect();
    let removed = removed_results(&results, removed);
    let kept = lines.iter().enumerate();
    let kept = kept.filter(|(at, _)| !removed.contains(at));
    let texts: Vec<&str> = kept.map(|(_, line)| &*line.text).collect();
    SummaryRequest::new(vec![
        ChatMessage::new("system", PROMPT.replace(PLACE, &texts.join("\n"))),
        ChatMessage::new("user", QUESTION),
    ])
}

/// A message as the program stores it: a text, a call or a result.
struct TranscriptLine {
    text: String,
    is_result: bool,
}

/// `format_message_for_compacting`: returns a history as text. The program stores each call apart, with its result behind it.
fn lines(history: &[ChatMessage], n_joined: usize) -> Vec<TranscriptLine> {
    let mut lines = Vec::new();
    let mut add = |text: String, is_result| lines.push(TranscriptLine { text, is_result });
    let own = history.iter().enumerate().filter(|(_, m)| !m.is("tool"));
    for (at, message) in own {
        let mut text = message.joined_text("\n");
        let has_calls = !message.calls().is_empty();
        let joined =
            (at < n_joined && has_calls && !text.is_empty()).then(|| std::mem::take(&mut text));
        if !text.is_empty() {
            add(format!("[{}]: {text}", message.role), false);
        }
        for (nth, call) in message.calls().iter().enumerate() {
            let arguments = call.arguments_as_value();
            let request = format!("tool_request({}): {arguments}", call.tool());
            let before = joined.as_ref().filter(|_| nth == 0);
            let before = before.map_or(String::new(), |text| format!("{text}\n"));
            add(format!("[assistant]: {before}{request}"), false);
            if let Some(result) = result_of_call(call, &history[at + 1..]) {
                let text = result.joined_text("\n");
                add(format!("[user]: tool_response: {text}"), true);
            }
        }
    }
    lines
}

/// `filter_tool_responses`: returns the results that are left out, from the middle outwards.
fn removed_results(results: &[usize], percent: usize) -> BTreeSet<usize> {
    if percent == 0 || results.is_empty() {
        return BTreeSet::new();
    }
    let middle = results.len() / 2;
    let n_removed = (results.len() * percent / 100).max(1);
    let removed = (0..n_removed).filter_map(|nth| {
        let offset = nth / 2;
        let at = if nth % 2 == 0 { middle.checked_sub(offset + 1) } else { Some(middle + offset) };
        results.get(at?).copied()
    });
    removed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    #[test]
    fn turns_with_repeated_call_ids_have_their_own_results() {
        let turn = |result: &str| {
            let call = json!({"id": "call_0", "function": {"name": "shell", "arguments": "{}"}});
            [
                json!({"role": "assistant", "content": "", "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": "call_0", "content": result}),
            ]
        };
        let history = [turn("A"), turn("B")].concat();
        let history: Vec<_> = history.iter().map(message_from_json).collect();
        let lines = lines(&history, 0);
        let results = lines.iter().filter(|line| line.is_result);
        let results: Vec<&str> = results.map(|line| &*line.text).collect();
        assert_eq!(results, ["[user]: tool_response: A", "[user]: tool_response: B"]);
    }

    #[test]
    fn results_in_the_middle_are_removed_first() {
        let removed = |n: usize, percent| {
            let results: Vec<usize> = (0..n).collect();
            Vec::from_iter(removed_results(&results, percent))
        };
        assert!(removed(10, 0).is_empty());
        assert_eq!(removed(10, 10), [4]);
        assert_eq!(removed(10, 50), [2, 3, 4, 5, 6]);
        assert_eq!(removed(4, 100), [0, 1, 2, 3]);
        // The program misses the last of an odd number.
        assert_eq!(removed(3, 100), [0, 1]);
        assert!(removed(1, 10).is_empty());
    }
}
