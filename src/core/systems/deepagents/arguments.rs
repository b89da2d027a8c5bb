//! Arguments of old calls that write files, cut for one request.

use super::call::{Attempt, CallState};
use crate::chat::{Arguments, Calls, ChatMessage};
use crate::engine::{Memory, MessageEdit, RewriteInput};
use crate::json::Value;
use crate::languages::python::first_chars;
use crate::systems::langchain::estimate::estimated_tokens;
use crate::systems::langchain::summarize::share_of;

/// Key of the messages before their arguments were cut, in memory.
const ORIGINALS: &str = "deepagents_originals";

/// Tools whose arguments are cut.
const TOOLS: [&str; 2] = ["write_file", "edit_file"];
/// Characters that are left of an argument.
// As in deepagents 0.7.32, `SummarizationMiddleware` (`middleware/summarization.py`).
const LEFT: usize = 20;

/// Numbers of the actions that cut arguments.
pub(super) const NUMBERS: [&str; 7] = [
    "arguments_trigger_tokens",
    "arguments_trigger_share",
    "arguments_trigger_messages",
    "arguments_keep_tokens",
    "arguments_keep_share",
    "arguments_keep_messages",
    "max_length",
];

/// Messages before their arguments were cut.
#[derive(Clone, Debug, Default)]
struct Originals {
    call: usize,
    messages: Vec<ChatMessage>,
    /// The count of the request with them.
    total: u64,
}

/// Returns the edits that cut old arguments, by their index in the conversation.
pub(super) fn cut_arguments(
    input: &RewriteInput<'_>,
    call: &CallState<'_>,
    marker: &str,
) -> Vec<MessageEdit> {
    let messages = call.conversation();
    if !is_triggered(input, call, messages) {
        return Vec::new();
    }
    let max_length = input.count("max_length");
    let old = messages[..first_kept(input, call, messages)].iter().enumerate();
    let edits = old.filter_map(|(at, message)| {
        let now = Some(with_cut_arguments(message, max_length, marker)?);
        Some(MessageEdit { at, now })
    });
    edits.collect()
}

fn is_triggered(input: &RewriteInput<'_>, call: &CallState<'_>, messages: &[ChatMessage]) -> bool {
    let n = input.count("arguments_trigger_messages");
    let tokens = input.count("arguments_trigger_tokens") as u64;
    let share = share_of(call.limit(), input.number("arguments_trigger_share"));
    let limit = share.or((tokens > 0).then_some(tokens));
    (n > 0 && messages.len() >= n) || limit.is_some_and(|limit| call.count(messages) >= limit)
}

/// Returns the first message whose arguments are kept.
fn first_kept(input: &RewriteInput<'_>, call: &CallState<'_>, messages: &[ChatMessage]) -> usize {
    let tokens = input.count("arguments_keep_tokens") as u64;
    let share = share_of(call.limit(), input.number("arguments_keep_share"));
    let Some(target) = share.or((tokens > 0).then_some(tokens)) else {
        let keep = input.count("arguments_keep_messages");
        return messages.len().saturating_sub(keep);
    };
    let mut kept = 0;
    let exceeds = |message: &ChatMessage| {
        kept += estimated_tokens(message);
        kept > target
    };
    match messages.iter().rposition(exceeds) {
        // If not even the newest message may be kept, no arguments are cut.
        Some(at) if at + 1 < messages.len() => at + 1,
        _ => 0,
    }
}

/// Returns an answer with cut arguments; `None` if it has none to cut.
fn with_cut_arguments(
    message: &ChatMessage,
    max_length: usize,
    marker: &str,
) -> Option<ChatMessage> {
    if !message.is("assistant") || message.calls().is_empty() {
        return None;
    }
    let mut is_cut = false;
    let mut now = message.clone();
    let Calls::List(calls) = &mut now.calls else {
        return None;
    };
    for call in calls.iter_mut().filter(|call| TOOLS.contains(&call.tool())) {
        let Value::Object(mut arguments) = call.arguments_as_value() else {
            continue;
        };
        let mut is_cut_here = false;
        for value in arguments.values_mut() {
            if let Value::String(text) = value
                && text.chars().nth(max_length).is_some()
            {
                *value = format!("{}{marker}", first_chars(text, LEFT)).into();
                is_cut_here = true;
            }
        }
        if let Some(function) = call.function.as_mut().filter(|_| is_cut_here) {
            function.arguments = Arguments::Text(Value::from(arguments).to_string().into());
            is_cut = true;
        }
    }
    is_cut.then_some(now)
}

/// Returns whether this request has its arguments cut already.
pub(super) fn are_cut(call: &CallState<'_>) -> bool {
    call.attempt().is_some_and(|(attempt, _)| attempt != Attempt::Plain)
}

/// Adds the messages before their arguments were cut to memory.
pub(super) fn with_originals(
    memory: Memory,
    input: &RewriteInput<'_>,
    messages: Vec<ChatMessage>,
    total: u64,
) -> Memory {
    let originals = Originals { call: input.call, messages, total };
    memory.with(ORIGINALS, originals)
}

/// Returns the count of this call's request before its arguments were cut, if they were.
pub(super) fn uncut_total(input: &RewriteInput<'_>) -> Option<u64> {
    originals(input).map(|originals| originals.total)
}

fn originals<'a>(input: &'a RewriteInput<'_>) -> Option<&'a Originals> {
    let originals = input.memory.shared::<Originals>(ORIGINALS);
    originals.filter(|originals| originals.call == input.call)
}

/// Returns the edits that put back the arguments of this call's messages.
pub(super) fn restored(input: &RewriteInput<'_>) -> Vec<MessageEdit> {
    let Some(originals) = originals(input) else {
        return Vec::new();
    };
    let first = |message: &ChatMessage| message.parts().next();
    let edit = |(at, message): (usize, &ChatMessage)| {
        let mut originals = originals.messages.iter();
        let original = originals.find(|original| first(original) == first(message))?;
        (original != message).then(|| MessageEdit { at, now: Some(original.clone()) })
    };
    input.messages.iter().enumerate().filter_map(edit).collect()
}
