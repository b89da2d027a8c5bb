//! Facts about the messages of a conversation.

use super::{Call, ChatMessage};
use crate::session::WrittenKind;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Returns the number of system messages at the start.
pub fn n_system(messages: &[ChatMessage]) -> usize {
    messages.iter().take_while(|m| m.is("system")).count()
}

/// Returns the index of the user's newest message. Summaries that the agent sends as the user do not count.
pub fn newest_request(messages: &[ChatMessage]) -> Option<usize> {
    let is_request = |m: &ChatMessage| m.is("user") && m.written != Some(WrittenKind::Summary);
    messages.iter().rposition(is_request)
}

/// Returns the first message that is not answered yet: the user's newest message, or the newest results.
pub fn first_pending(messages: &[ChatMessage]) -> usize {
    let last = messages.len().saturating_sub(1);
    match messages.last() {
        Some(message) if message.is("user") => last,
        Some(message) if message.is("tool") => {
            let results = messages.iter().rev().take_while(|m| m.is("tool"));
            messages.len() - results.count()
        }
        _ => messages.len(),
    }
}

/// Returns the ranges of messages from `start` on that a system stores as one. `joins` receives the first message of
/// the last range and the next message.
pub fn stored_ranges(
    messages: &[ChatMessage],
    start: usize,
    joins: impl Fn(&ChatMessage, &ChatMessage) -> bool,
) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, message) in messages.iter().enumerate().skip(start) {
        match ranges.last_mut() {
            Some(last) if joins(&messages[last.start], message) => last.end = at + 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

/// Returns the result of a call from the results directly behind its answer. `following` are the messages behind it. Ids of
/// calls may repeat in a conversation.
pub fn result_of_call<'a>(call: &Call, following: &'a [ChatMessage]) -> Option<&'a ChatMessage> {
    let mut results = following.iter().take_while(|m| m.is("tool"));
    results.find(|m| m.call_id == call.id)
}

/// Returns the tool of each call that has an id, by this id. Of several calls with an id, the last counts.
pub fn tools_by_call<'a>(
    messages: impl IntoIterator<Item = &'a ChatMessage>,
) -> HashMap<Arc<str>, Arc<str>> {
    let calls = messages.into_iter().flat_map(ChatMessage::calls);
    let tools = calls.filter_map(|call| {
        let tool = call.function.as_ref().map(|f| Arc::clone(&f.name));
        Some((call.id.clone()?, tool.unwrap_or_default()))
    });
    tools.collect()
}
