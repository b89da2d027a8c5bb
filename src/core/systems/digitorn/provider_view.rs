//! The provider's copy of the conversation: without unanswered calls, orphaned results and old thoughts.
//!
//! Source: `to_chat_messages` of `runtime/messages.py`, mbathe/digitorn-bridge @0828486f. The store keeps everything.

use crate::chat::{Block, BlockBody, Call, Calls, ChatMessage, Content, Fields, Messages, Rule};
use crate::engine::MessageEdit;
use crate::json::Value;
use crate::languages::python::python_str;
use crate::languages::python::{is_space, is_true};
use std::collections::HashSet;

const OPENS: &str = "<think>";
const CLOSES: &str = "</think>";

/// Returns the messages of a request.
pub fn provider_view(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut view = RepairedView::default();
    let open = view.extend(messages, |_| None);
    let mut orphans = view.edits.into_iter().chain(open).peekable();
    let paired = |(at, message): (usize, &ChatMessage)| {
        let orphan = orphans.next_if(|orphan| orphan.at == at);
        orphan.map_or_else(|| Some(message.clone()), |orphan| orphan.now)
    };
    let paired = messages.iter().enumerate().filter_map(paired);
    paired.map(flattened).collect()
}

/// Returns the edits that remove orphans and thoughts from a conversation. Lists and `null` are unchanged.
pub fn repairs(messages: &Messages) -> Vec<MessageEdit> {
    let clean = |message: &ChatMessage| {
        let text = message.text().filter(|_| message.is("assistant"))?;
        Some(message.with_text(without_thoughts(text)?))
    };
    let mut open = Vec::new();
    let view = messages.updated_state(VIEW, |view: &mut RepairedView, messages| {
        open = view.extend(messages, clean);
    });
    [&*view.edits, &*open].concat()
}

/// The cached rule of a view.
const VIEW: Rule = Rule::new("digitorn: view");

/// A view of the part of a conversation that later messages cannot change.
#[derive(Clone, Debug, Default)]
struct RepairedView {
    /// Number of messages in that part.
    n: usize,
    /// Edits in it.
    edits: Vec<MessageEdit>,
    /// The last assistant message in it: results belong to its calls.
    caller: Option<ChatMessage>,
}

impl RepairedView {
    /// Extends the view to the end, without calls that have no result and results that have no call; `also` may change
    /// the rest. Returns the edits after the first call that is still waiting for its result.
    fn extend(
        &mut self,
        messages: &[ChatMessage],
        also: impl Fn(&ChatMessage) -> Option<ChatMessage>,
    ) -> Vec<MessageEdit> {
        let first = self.n;
        let messages = &messages[first..];
        let mut open = Vec::new();
        let mut caller = self.caller.clone();
        let (mut all_answered, mut waits) = (None, false);
        for (idx, message) in messages.iter().enumerate() {
            waits &= !ends_answers(message);
            let now = if message.is("assistant") && !message.calls().is_empty() {
                let answered = near_answers(message, &messages[idx + 1..]).unwrap_or_else(|| {
                    all_answered.get_or_insert_with(|| answered(messages))[idx].clone()
                });
                waits |= answered.contains(&false);
                with_answered_calls(message, &answered)
            } else {
                let stays = !message.is("tool") || is_answer(message, caller.as_ref());
                stays.then(|| message.clone())
            };
            if let Some(assistant) = now.as_ref().filter(|m| m.is("assistant")) {
                caller = Some(assistant.clone());
            }
            let now = now.map(|now| also(&now).unwrap_or(now));
            if !now.as_ref().is_some_and(|now| now.is_copy_of(message)) {
                let at = first + idx;
                open.push(MessageEdit { at, now });
            }
            if !waits {
                self.n = first + idx + 1;
                self.edits.append(&mut open);
                self.caller.clone_from(&caller);
            }
        }
        open
    }
}

/// Returns whether the search for results of earlier calls ends at a message.
fn ends_answers(message: &ChatMessage) -> bool {
    message.is("user") || message.is("system")
}

/// Returns which calls of a message are answered, if the messages just after it decide: most calls are answered at
/// once.
fn near_answers(message: &ChatMessage, behind: &[ChatMessage]) -> Option<Vec<bool>> {
    // Chosen: an answer rarely has more parallel calls. The search over all messages takes the rest.
    const NEAR: usize = 16;
    let near = &behind[..behind.len().min(NEAR)];
    let end = near.iter().position(ends_answers);
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

/// Returns for each message which of its calls are answered later. The search for results ends at a user or a system
/// message, not at another assistant message.
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
    let calls = if kept.is_empty() { Calls::Missing } else { Calls::List(kept) };
    Some(ChatMessage::from(Fields { calls, ..message.clone().into_fields() }))
}

/// Returns whether the nearest assistant message before made this call.
fn is_answer(message: &ChatMessage, assistant: Option<&ChatMessage>) -> bool {
    let id = message.call_id.as_deref().filter(|id| !id.is_empty());
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

/// Removes thoughts and `null`, and joins lists of texts.
fn flattened(message: ChatMessage) -> ChatMessage {
    let content = match &message.content {
        Content::Text(text) if message.is("assistant") => {
            return match without_thoughts(&text.text) {
                Some(clean) => message.with_text(clean),
                None => message,
            };
        }
        Content::Missing | Content::Null => Content::text(""),
        Content::Blocks(blocks) if blocks.iter().any(is_picture) => {
            let kept = blocks.iter().filter(|b| is_picture(b) || text_of(b).is_some());
            Content::Blocks(kept.cloned().collect())
        }
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(text_of);
            let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
            return message.with_text(texts.join(" "));
        }
        _ => return message,
    };
    ChatMessage::from(Fields { content, ..message.into_fields() })
}

fn is_picture(block: &Block) -> bool {
    match &block.body {
        BlockBody::Image(_) => true,
        BlockBody::Other(value) => value.get("type") == Some(&"image_ref".into()),
        _ => false,
    }
}

/// Returns the text of a text block; `None` for other kinds and for a `null` text.
fn text_of(block: &Block) -> Option<String> {
    match &block.body {
        BlockBody::Text(text) => Some((**text).to_owned()),
        BlockBody::Other(value) if value.get("type") == Some(&"text".into()) => {
            let text = value.get("text").filter(|text| **text != Value::Null)?;
            Some(if is_true(text) { python_str(text) } else { String::new() })
        }
        _ => None,
    }
}

/// Returns the text without `<think>` blocks and the space around it; `None` if there are none.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    /// Makes a conversation with calls answered late, not at all, after a user message, or with an unknown id;
    /// thoughts; a long wait for a result.
    fn conversation() -> Vec<ChatMessage> {
        let call = |ids: &[&str]| {
            let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}})).collect();
            json!({"role": "assistant", "content": "<think>so</think> ok", "tool_calls": calls})
        };
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
        let clean = |role: &str| json!({"role": role, "content": "x"});
        let mut all =
            vec![clean("system"), clean("user"), call(&["a", "b"]), result("a"), result("z")];
        all.extend([result("b"), call(&["c"]), clean("user"), result("c"), call(&["d"])]);
        all.extend((0..20).map(|_| clean("assistant")));
        all.extend([result("d"), call(&["e", "f"]), result("e"), clean("user"), clean("tool")]);
        all.iter().map(message_from_json).collect()
    }

    #[test]
    fn an_extended_view_equals_a_new_one() {
        let mut grown = Messages::default();
        for message in conversation() {
            grown.grow([message]);
            let anew = Messages::from(grown.to_vec());
            assert_eq!(repairs(&grown), repairs(&anew), "{} messages", grown.len());
        }
        let gone = repairs(&grown).into_iter().filter(|edit| edit.now.is_none());
        let gone: Vec<usize> = gone.map(|edit| edit.at).collect();
        assert_eq!(gone, [4, 8, 30, 34]);
    }
}
