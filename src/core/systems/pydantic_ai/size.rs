//! Counts that are compared with limits: messages, and tokens by the newest usage and a quarter of the characters since.

use super::history::History;
use crate::chat::{Arguments, ChatMessage, Rule};
use crate::engine::{Memory, RewriteInput};
use crate::languages::python::{Layout, python_dumps};
use crate::systems::langchain::usage::Usage;

/// Numbers of actions that compare a size. `max_messages` and `max_tokens` are 0 for no limit.
pub(super) const NUMBERS: [&str; 3] = ["reported", "max_messages", "max_tokens"];

const CHARACTERS: Rule = Rule::new("pydantic_ai: characters");

/// Adds the usage that answers reported to memory.
pub(super) fn remembered(input: &RewriteInput<'_>, memory: impl Into<Memory>) -> Memory {
    Usage::new(input).remember(memory)
}

/// Returns the tokens that are compared with the limit; none if there is no limit.
pub(super) fn compared(input: &RewriteInput<'_>) -> Option<u64> {
    (input.number("max_tokens") > 0.0).then(|| tokens(input))
}

/// Returns whether a number of messages exceeds the limit.
pub(super) fn has_too_many(input: &RewriteInput<'_>, n_messages: usize) -> bool {
    let limit = input.count("max_messages");
    limit > 0 && n_messages > limit
}

/// `estimate_context_tokens`.
fn tokens(input: &RewriteInput<'_>) -> u64 {
    let history = History::new(input);
    let messages = &input.messages[history.system.len()..];
    match Usage::new(input).newest(messages) {
        Some((at, total)) => {
            // Instructions belong to requests: without one up to this answer, they count as added since.
            let is_first = messages[..at].iter().all(|m| m.is("assistant"));
            let added = if is_first { history.system } else { &[] };
            total + characters(added) / 4 + characters(&messages[at + 1..]) / 4
        }
        None => characters(&input.messages) / 4,
    }
}

/// Returns the characters of texts, reasoning and calls.
pub(super) fn characters(messages: &[ChatMessage]) -> u64 {
    let count = |text: &str| text.chars().count() as u64;
    let of_message = |message: &ChatMessage| {
        let reasoning = message.reasoning.as_ref();
        let calls = message.calls().iter().filter_map(|c| c.function.as_ref());
        count(&message.joined_text(""))
            + reasoning.map_or(0, |reasoning| count(&reasoning.text))
            + calls.map(|call| count(&call.name) + arguments(&call.arguments)).sum::<u64>()
    };
    let weigh = |message: &ChatMessage| message.weigh(CHARACTERS, of_message);
    messages.iter().map(weigh).sum()
}

/// Returns the characters of arguments.
fn arguments(arguments: &Arguments) -> u64 {
    match arguments {
        Arguments::Text(text) => text.chars().count() as u64,
        Arguments::Json(value) => python_dumps(value, Layout::UNICODE).chars().count() as u64,
        Arguments::Missing => 0,
    }
}
