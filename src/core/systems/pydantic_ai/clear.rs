//! `ClearToolResults`: clears old results in place.

use super::history::History;
use super::size;
use crate::chat::{Arguments, Calls, ChatMessage};
use crate::engine::{ActionKind, Memory, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::{joined, numbers_only};
use std::collections::HashSet;

/// `min_clear_tokens` is 0 for no minimum.
pub(super) const ACTION: NamedAction =
    NamedAction::new(
        "pydantic_ai.clear",
        ActionKind::Clear,
        "Clears all results but the newest.",
        |settings| numbers_only(settings, clear),
    )
    .with_numbers(
        &const {
            joined::<6>(&[&size::NUMBERS, &["keep_pairs", "clear_tool_inputs", "min_clear_tokens"]])
        },
    );

const PLACEHOLDER: &str = "[tool result cleared]";
const NO_ARGUMENTS: &str = "{}";

fn clear(input: &RewriteInput<'_>) -> Rewritten {
    let history = History::new(input);
    let is_cleared = |message: &&[ChatMessage]| {
        let mut results = message.iter().filter(|m| m.is("tool"));
        results.any(|result| result.text() == Some(PLACEHOLDER))
    };
    let n_since = match history.messages.iter().rposition(is_cleared) {
        Some(last) => history.messages.len() - last - 1,
        None => history.len(),
    };
    let mut done =
        Rewritten { memory: size::remembered(input, Memory::default()), ..Rewritten::default() };
    if !size::has_too_many(input, n_since) {
        done.compared = size::compared(input);
        let is_above = |count: u64| count as f64 > input.number("max_tokens");
        if !done.compared.is_some_and(is_above) {
            return done;
        }
    }
    let all = &input.messages;
    let edits = cleared(all, input.count("keep_pairs"), input.flag("clear_tool_inputs"));
    let before = size::characters(all);
    let change = |edit: &MessageEdit| {
        let now = edit.now.as_ref().map(std::slice::from_ref);
        let now = now.map_or(0, size::characters);
        now.cast_signed() - size::characters(&all[edit.at..=edit.at]).cast_signed()
    };
    let after = before.saturating_add_signed(edits.iter().map(change).sum());
    let saved = (before / 4).cast_signed() - (after / 4).cast_signed();
    if saved as f64 >= input.number("min_clear_tokens") || input.number("min_clear_tokens") == 0.0 {
        done.fired = !edits.is_empty();
        done.edits = edits.into();
    }
    done
}

/// Returns the edits that clear all results but the newest `keep`, and the arguments of their calls if `inputs`.
fn cleared(all: &[ChatMessage], keep: usize, inputs: bool) -> Vec<MessageEdit> {
    let calls = all.iter().flat_map(ChatMessage::calls);
    let calls: HashSet<&str> = calls.filter_map(|call| call.id.as_deref()).collect();
    let results = all.iter().filter(|m| m.is("tool"));
    let pairs = results.filter_map(|m| m.call_id.as_deref());
    let pairs: Vec<&str> = pairs.filter(|id| calls.contains(id)).collect();
    let old = &pairs[..pairs.len().saturating_sub(keep)];
    let old: HashSet<&str> = old.iter().copied().collect();
    let edit = |(at, message): (usize, &ChatMessage)| {
        let is_old =
            message.is("tool") && message.call_id.as_deref().is_some_and(|id| old.contains(id));
        let now = if is_old && message.text() != Some(PLACEHOLDER) {
            message.with_text(PLACEHOLDER)
        } else if inputs {
            without_arguments(message, &old)?
        } else {
            return None;
        };
        Some(MessageEdit { at, now: Some(now) })
    };
    all.iter().enumerate().filter_map(edit).collect()
}

/// Returns an answer without the arguments of some calls; `None` if it has none of them.
fn without_arguments(answer: &ChatMessage, ids: &HashSet<&str>) -> Option<ChatMessage> {
    let mut now = answer.clone();
    let Calls::List(calls) = &answer.calls else {
        return None;
    };
    let is_old = |id: Option<&str>| id.is_some_and(|id| ids.contains(id));
    if !calls.iter().any(|call| is_old(call.id.as_deref())) {
        return None;
    }
    let mut calls = calls.clone();
    for call in calls.iter_mut().filter(|call| is_old(call.id.as_deref())) {
        if let Some(function) = &mut call.function {
            function.arguments = Arguments::Text(NO_ARGUMENTS.into());
        }
    }
    now.calls = Calls::List(calls);
    (now != *answer).then_some(now)
}
