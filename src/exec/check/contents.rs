//! Compares the contents of a conversation written in another format: texts in their order, calls with results, and
//! tools. Formats may differ in everything else.

use super::promise::{Promise, context_messages};
use crate::exec::contents::{CallItem, Contents, Located};
use crate::json::Value;
use crate::session::{ManagedEntry, ManagedPart, Role, Session};

/// Describes the first difference from the intended content.
pub(super) fn difference(promise: &Promise<'_>, read: &Session) -> Option<String> {
    let promised = promised(promise);
    let found = Contents::of_messages(read, context_messages(read));
    differing_text(&promised, &found, n_added(promise, &promised))
        .or_else(|| differing_call(&promised.calls, &found.calls))
        .or_else(|| differing_tool(&promised.tools, &found.tools))
}

/// Returns the number of texts that the writer may add before others, see [`crate::formats::Resume::is_left_out`].
fn n_added(promise: &Promise<'_>, promised: &Contents<'_>) -> usize {
    let Some(resume) = &promise.format.resume else {
        return 0;
    };
    let texts = promised.texts.iter().filter(|item| item.role != Role::Assistant);
    texts.filter(|item| (resume.is_left_out)(item.text)).count()
}

fn promised<'a>(promise: &Promise<'a>) -> Contents<'a> {
    let mut contents = Contents::default();
    let session = &promise.case.session;
    for entry in &promise.managed.entries[promise.n_replaced()..] {
        match entry {
            ManagedEntry::Kept { message } => contents.add_message(session, *message),
            ManagedEntry::Edited { message, parts } => {
                for part in parts {
                    let (part, replaced) = match part {
                        ManagedPart::Kept { part } => (part, None),
                        ManagedPart::Replaced { part, text } => (part, Some(&**text)),
                    };
                    contents.add_part(session, *message, *part, replaced);
                }
            }
            // Not every format can add a result.
            ManagedEntry::Written { answers: Some(_), .. } => {}
            ManagedEntry::Written { role, text, before_message, .. } => {
                contents.add_text(*before_message, *role, text);
            }
        }
    }
    if promise.format.has_own_instructions(session) {
        contents.tools.clear();
    }
    contents
}

/// Finds a missing or misplaced text, or more texts than media that they may replace.
fn differing_text(promised: &Contents<'_>, found: &Contents<'_>, n_added: usize) -> Option<String> {
    let mut rest = found.texts.iter();
    for item in &promised.texts {
        if !rest.any(|there| there.text == item.text) {
            return Some(format!("a text of message {} is missing or misplaced", item.message + 1));
        }
    }
    let more = found.texts.len() - promised.texts.len();
    let (media, found) = (promised.media.len(), found.media.len());
    if found + more < media {
        return Some(format!("{} images or other media are missing", media - found - more));
    }
    (more > media + n_added).then(|| format!("{more} unexpected texts"))
}

fn differing_call(promised: &[CallItem<'_>], found: &[CallItem<'_>]) -> Option<String> {
    for (promised, found) in promised.iter().zip(found) {
        let is_same = promised.tool == found.tool && promised.arguments == found.arguments;
        let is_answered = match (&promised.result, &found.result) {
            (Some(promised), Some(found)) => promised.is_same_text(found),
            (Some(_), None) => false,
            // A note may replace a result that was not recorded.
            (None, _) => true,
        };
        if !is_same || !is_answered {
            let part = if is_same { "result" } else { "call" };
            return Some(format!("a {part} of message {} changed", promised.message + 1));
        }
    }
    (promised.len() != found.len())
        .then(|| format!("{} calls instead of {}", found.len(), promised.len()))
}

fn differing_tool(promised: &[Located<Value>], found: &[Located<Value>]) -> Option<String> {
    let promised = promised.iter().map(|tool| &tool.item);
    (!promised.eq(found.iter().map(|tool| &tool.item)))
        .then(|| "the tool definitions differ".to_owned())
}
