//! Messages with the marks of compaction, and the token estimate.

use crate::chat::{Arguments, Block, Call, ChatMessage, Content, Rule};
use crate::json::{Value, json};
use crate::languages::python::{Layout, python_dumps};
use std::sync::Arc;

const CHARS: Rule = Rule::new("agent_framework: chars");

/// The framework's own identity of a call and its result. Its random digits have a fixed length.
const OCCURRENCE: &str = "af-call-00000000000000000000000000000000";

/// Kind of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    System,
    User,
    AssistantText,
    ToolCall,
}

/// Group of a message.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) id: Arc<str>,
    pub(super) kind: Kind,
}

/// A message of the framework. All results of one answer are one message.
#[derive(Clone, Debug)]
pub(super) struct Marked {
    /// Identity: a copy of a message is another message.
    pub(super) uid: u64,
    pub(super) messages: Arc<Vec<ChatMessage>>,
    pub(super) id: Option<Arc<str>>,
    pub(super) group: Option<Group>,
    pub(super) is_excluded: bool,
    /// Id of the summary that replaces it.
    pub(super) summarized_by: Option<Arc<str>>,
    /// Ids of the messages that this summary replaces.
    pub(super) summary_of: Vec<Arc<str>>,
}

impl Marked {
    /// Creates a message without marks.
    pub(super) fn new(message: ChatMessage) -> Self {
        Self {
            uid: 0,
            messages: Arc::new(vec![message]),
            id: None,
            group: None,
            is_excluded: false,
            summarized_by: None,
            summary_of: Vec::new(),
        }
    }

    /// Returns the role.
    pub(super) fn role(&self) -> &str {
        self.messages.first().map_or("", |message| &message.role)
    }

    /// Returns the calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.messages.iter().flat_map(ChatMessage::calls)
    }

    /// Returns the results.
    pub(super) fn results(&self) -> impl Iterator<Item = &ChatMessage> {
        self.messages.iter().filter(|message| message.is("tool"))
    }

    /// Returns the ids of the calls.
    pub(super) fn call_ids(&self) -> impl Iterator<Item = &str> {
        let ids = self.calls().filter_map(|call| call.id.as_deref());
        ids.filter(|id| !id.is_empty())
    }

    /// Returns the ids of the calls that the results answer.
    pub(super) fn result_ids(&self) -> impl Iterator<Item = &str> {
        let ids = self.results().filter_map(|result| result.call_id.as_deref());
        ids.filter(|id| !id.is_empty())
    }

    /// Returns whether it only has reasoning.
    pub(super) fn is_reasoning_only(&self) -> bool {
        self.role() == "assistant"
            && self.calls().next().is_none()
            && self.messages.iter().all(|message| {
                message.reasoning.is_some() && texts(&message.content).concat().is_empty()
            })
    }

    /// Returns the estimated tokens: a quarter of the characters of its JSON.
    pub(super) fn tokens(&self) -> u64 {
        let id = self.id.as_deref().unwrap_or_default();
        let contents: u64 = self.messages.iter().map(contents_chars).sum();
        let chars = (EMPTY.len() + id.len() + self.role().len()) as u64;
        ((chars + contents.saturating_sub(SEPARATOR)) / 4).max(1)
    }

    /// Returns whether the stored history treats both as one message: they have the same id, or none and the same text.
    pub(super) fn has_identity_of(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (Some(id), Some(other)) => id == other,
            (None, None) => {
                let is_text = |message: &Self| {
                    message.calls().next().is_none() && message.results().next().is_none()
                };
                is_text(self)
                    && is_text(other)
                    && self.role() == other.role()
                    && texts_of(&self.messages) == texts_of(&other.messages)
            }
            _ => false,
        }
    }
}

/// JSON of a message without contents, id and role, which contain no escapes.
const EMPTY: &str = r#"{"contents": [], "message_id": "", "role": ""}"#;
/// Characters between two items of a list.
// Of `", "` in the JSON that `json.dumps` writes.
const SEPARATOR: u64 = 2;

fn n_chars(value: &Value) -> u64 {
    python_dumps(value, Layout::UNICODE).chars().count() as u64
}

/// Returns the characters of a message's contents as JSON, each with a separator.
fn contents_chars(message: &ChatMessage) -> u64 {
    message.weigh(CHARS, |message| {
        let contents = contents(message);
        let chars = contents.iter().map(|item| n_chars(item) + SEPARATOR);
        chars.sum()
    })
}

/// Returns the contents as the framework serializes them, with sorted keys.
fn contents(message: &ChatMessage) -> Vec<Value> {
    let of_text =
        |kind: &str, text: &str| json!({"additional_properties": {}, "text": text, "type": kind});
    if message.is("tool") {
        return vec![json!({
            "additional_properties": {},
            "call_id": message.call_id.as_deref().unwrap_or_default(),
            "id": OCCURRENCE,
            "result": result_text(message),
            "type": "function_result",
        })];
    }
    let reasoning = message.reasoning.iter();
    let reasoning = reasoning.map(|text| of_text("text_reasoning", &text.text));
    let texts = texts(&message.content).into_iter();
    let texts = texts.filter(|text| !text.is_empty() || !message.is("assistant"));
    let calls = message.calls().iter().map(|call| {
        json!({
            "additional_properties": {},
            "arguments": arguments_text(call),
            "call_id": call.id.as_deref().unwrap_or_default(),
            "hosted": false,
            "id": OCCURRENCE,
            "name": call.tool(),
            "type": "function_call",
        })
    });
    let texts = texts.map(|text| of_text("text", text));
    reasoning.chain(texts).chain(calls).collect()
}

/// Returns the texts of a content.
pub(super) fn texts(content: &Content) -> Vec<&str> {
    match content {
        Content::Text(text) => vec![&text.text],
        Content::Blocks(blocks) => blocks.iter().filter_map(Block::as_text).collect(),
        Content::Missing | Content::Null | Content::Other(_) => Vec::new(),
    }
}

fn texts_of(messages: &[ChatMessage]) -> Vec<&str> {
    let texts = messages.iter().flat_map(|message| texts(&message.content));
    texts.collect()
}

/// Returns the text of a tool result.
pub(super) fn result_text(result: &ChatMessage) -> String {
    result.joined_text("\n").into_owned()
}

/// Returns the arguments of a call as text.
pub(super) fn arguments_text(call: &Call) -> String {
    match call.function.as_ref().map(|function| &function.arguments) {
        Some(Arguments::Text(text)) => text.to_string(),
        Some(Arguments::Json(value)) => python_dumps(value, Layout::UNICODE),
        Some(Arguments::Missing) | None => String::new(),
    }
}
