//! What the provider receives: a copy without calls that nobody answered, orphaned results and old thoughts.
//!
//! Source: `to_chat_messages` of `runtime/messages.py`, mbathe/digitorn-bridge @0828486f. The store keeps everything.

use super::fault::{is_space, is_true};
use crate::chat::{Block, BlockBody, Call, Calls, ChatMessage, Content, Fields, python_str};
use serde_json::Value;
use std::collections::HashSet;

const OPENS: &str = "<think>";
const CLOSES: &str = "</think>";

/// The messages of a request.
pub fn provider_view(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let paired = without_orphans(messages);
    paired.into_iter().map(flattened).collect()
}

/// The same conversation without orphans and thoughts; nothing if there are none. Lists and `null` stay as they are.
pub fn repaired(messages: &[ChatMessage]) -> Option<Vec<ChatMessage>> {
    let mut view = without_orphans(messages);
    let mut is_changed = view != messages;
    for message in view.iter_mut().filter(|m| m.is("assistant")) {
        if let Some(said) = message.text().and_then(without_thoughts) {
            *message = message.with_text(said);
            is_changed = true;
        }
    }
    is_changed.then_some(view)
}

/// Without calls that have no result and results that have no call.
fn without_orphans(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    let mut all_answered = None;
    for (idx, message) in messages.iter().enumerate() {
        if message.is("assistant") && !message.calls().is_empty() {
            let answered = near_answers(message, &messages[idx + 1..]).unwrap_or_else(|| {
                all_answered.get_or_insert_with(|| answered(messages))[idx].clone()
            });
            out.extend(with_answered_calls(message, &answered));
        } else if !message.is("tool") || is_answer(message, &out) {
            out.push(message.clone());
        }
    }
    out
}

/// Which calls of a message are answered, if what stands near behind it tells: most are answered at once.
fn near_answers(message: &ChatMessage, behind: &[ChatMessage]) -> Option<Vec<bool>> {
    const NEAR: usize = 16;
    let near = &behind[..behind.len().min(NEAR)];
    let is_end = |m: &&ChatMessage| m.is("user") || m.is("system");
    let end = near.iter().position(|m| is_end(&m));
    let is_whole = end.is_some() || near.len() == behind.len();
    let near = &near[..end.unwrap_or(near.len())];
    let is_answered = |call: &Call| {
        let id = call.id.as_deref().filter(|id| !id.is_empty());
        let answers = |m: &ChatMessage| m.is("tool") && m.call_id.as_deref() == id;
        id.is_some() && near.iter().any(answers)
    };
    let answered: Vec<bool> = message.calls().iter().map(is_answered).collect();
    (is_whole || answered.iter().all(|is_answered| *is_answered)).then_some(answered)
}

/// By message: which of its calls are answered later. Looking for results ends at a user or a system message, not at
/// another assistant.
fn answered(messages: &[ChatMessage]) -> Vec<Vec<bool>> {
    let mut ids: HashSet<&str> = HashSet::new();
    let mut answered: Vec<Vec<bool>> = messages
        .iter()
        .rev()
        .map(|message| {
            let is_answered = |call: &Call| {
                let id = call.id.as_deref().filter(|id| !id.is_empty());
                id.is_some_and(|id| ids.contains(id))
            };
            let calls = message.calls().iter().map(is_answered).collect();
            match &*message.role {
                "user" | "system" => ids.clear(),
                "tool" => ids.extend(message.call_id.as_deref()),
                _ => {}
            }
            calls
        })
        .collect();
    answered.reverse();
    answered
}

fn with_answered_calls(message: &ChatMessage, answered: &[bool]) -> Option<ChatMessage> {
    if answered.iter().all(|is_answered| *is_answered) {
        return Some(message.clone());
    }
    let calls = message.calls().iter().zip(answered);
    let kept = calls.filter(|(_, is_answered)| **is_answered);
    let kept: Vec<Call> = kept.map(|(call, _)| call.clone()).collect();
    if kept.is_empty() && !says_something(&message.content) {
        return None;
    }
    let calls = if kept.is_empty() {
        Calls::Missing
    } else {
        Calls::List(kept)
    };
    Some(ChatMessage::from(Fields {
        calls,
        ..message.clone().into_fields()
    }))
}

/// Whether the nearest assistant before made this call.
fn is_answer(message: &ChatMessage, before: &[ChatMessage]) -> bool {
    let id = message.call_id.as_deref().filter(|id| !id.is_empty());
    let assistant = before.iter().rev().find(|m| m.is("assistant"));
    let calls = assistant.map_or(&[][..], ChatMessage::calls);
    id.is_some() && calls.iter().any(|call| call.id.as_deref() == id)
}

fn says_something(content: &Content) -> bool {
    match content {
        Content::Missing | Content::Null => false,
        Content::Text(text) => !text.text.is_empty(),
        Content::Blocks(blocks) => !blocks.is_empty(),
        Content::Other(value) => is_true(value),
    }
}

/// Thoughts removed, lists of texts joined, no `null`.
fn flattened(message: ChatMessage) -> ChatMessage {
    let content = match &message.content {
        Content::Text(text) if message.is("assistant") => {
            return match without_thoughts(&text.text) {
                Some(said) => message.with_text(said),
                None => message,
            };
        }
        Content::Missing | Content::Null => Content::text(""),
        Content::Blocks(blocks) if blocks.iter().any(is_picture) => {
            let kept = blocks
                .iter()
                .filter(|b| is_picture(b) || text_of(b).is_some());
            Content::Blocks(kept.cloned().collect())
        }
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(text_of);
            let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
            return message.with_text(texts.join(" "));
        }
        _ => return message,
    };
    ChatMessage::from(Fields {
        content,
        ..message.into_fields()
    })
}

fn is_picture(block: &Block) -> bool {
    match &block.body {
        BlockBody::Image(_) => true,
        BlockBody::Other(value) => value.get("type") == Some(&"image_ref".into()),
        _ => false,
    }
}

/// The text of a text block; nothing for other kinds, and for a text that is `null`.
fn text_of(block: &Block) -> Option<String> {
    match &block.body {
        BlockBody::Text(text) => Some((**text).to_owned()),
        BlockBody::Other(value) if value.get("type") == Some(&"text".into()) => {
            let text = value.get("text").filter(|text| **text != Value::Null)?;
            Some(if is_true(text) {
                python_str(text)
            } else {
                String::new()
            })
        }
        _ => None,
    }
}

/// The text without `<think>` blocks and the space around it; nothing if there are none.
fn without_thoughts(text: &str) -> Option<String> {
    let find = |text: &str, tag: &str| {
        let starts = text.match_indices('<').map(|(at, _)| at);
        let is_tag = |at: &usize| {
            let found = text.as_bytes().get(*at..at + tag.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()))
        };
        starts.into_iter().find(is_tag)
    };
    find(text, OPENS)?;
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = find(rest, OPENS) {
        let (before, from) = rest.split_at_checked(start)?;
        let Some(end) = find(from, CLOSES) else { break };
        out.push_str(before);
        rest = from.get(end + CLOSES.len()..)?.trim_start_matches(is_space);
    }
    out.push_str(rest);
    Some(out.trim_matches(is_space).to_owned())
}
