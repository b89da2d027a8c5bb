//! `PatchToolCallsMiddleware`.

use crate::chat::{Call, ChatMessage};
use crate::engine::{RewriteInput, Rewritten};
use std::collections::HashSet;

pub(super) fn patch(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let results = all.iter().filter(|m| m.is("tool"));
    let answered: HashSet<&str> = results.filter_map(|m| m.call_id.as_deref()).collect();
    let is_open = |call: &&Call| {
        let id = call.id.as_deref();
        id.is_some_and(|id| !answered.contains(id))
    };
    let mut messages = Vec::new();
    for (at, message) in all.iter().enumerate() {
        let mut open = message.calls().iter().filter(is_open).peekable();
        if open.peek().is_some() && messages.is_empty() {
            messages = all[..at].to_vec();
        }
        if open.peek().is_some() || !messages.is_empty() {
            messages.push(message.clone());
        }
        // Calls with valid arguments come first.
        let (valid, invalid): (Vec<_>, Vec<_>) = open.partition(|call| is_valid(call));
        messages.extend(valid.into_iter().chain(invalid).map(result));
    }
    Rewritten {
        fired: !messages.is_empty(),
        messages: (!messages.is_empty()).then_some(messages),
        ..Rewritten::default()
    }
}

fn is_valid(call: &Call) -> bool {
    call.arguments_as_value().is_object()
}

/// Returns the result of a call that has none.
fn result(call: &Call) -> ChatMessage {
    let id = call.id.as_deref().unwrap_or_default();
    let tool = match call.tool() {
        "" => "unknown",
        tool => tool,
    };
    let what = if is_valid(call) {
        "did not complete - no result was recorded. It may have been cancelled or interrupted."
    } else {
        "could not be executed - arguments were malformed or truncated."
    };
    let text = format!("Tool call {tool} with id {id} {what}");
    let mut result = ChatMessage::notice_result(call, text);
    result.name = Some(tool.into());
    result
}
