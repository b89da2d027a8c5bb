//! A conversation in the form that an agent's own program stores: messages with a role, content and tool calls, in one
//! of two shapes.
//!
//! Real systems work on lists of such messages rather than on parts, and their rules depend on the shape (a `null`
//! content, a list of blocks, results grouped in one message or not). Rules are written over these types, so that the
//! same function runs in a replay and on a file of messages. Content keeps a reference to its part of the session when
//! a rule moves it. This module is independent of any system.

mod answer;
mod conversation;
mod json;
mod message;
mod messages;
mod replies;
mod rest;
mod view;

pub use answer::join_answer;
pub use conversation::{
    first_pending, n_system, newest_request, result_of_call, stored_ranges, tools_by_call,
};
pub use json::{call_from_json, message_from_json, message_to_json};
pub use message::{ChatMessage, Rule};
pub use messages::{Mark, Messages};
pub use replies::{
    Checkpoint, PendingRequest, Replies, SummaryReply, SummaryRequest, run_with_replies,
};
pub use rest::Rest;
pub use view::{Replaced, Shape, messages_of, push_grouped};

use crate::json::Value;
use crate::session::{Role, WrittenKind};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// Fields of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    /// `system`, `user`, `assistant`, `tool` or another role of the file.
    pub role: Arc<str>,
    /// Content.
    pub content: Content,
    /// `tool_calls` of an assistant message.
    pub calls: Calls,
    /// `tool_call_id` of a tool message.
    pub call_id: Option<Arc<str>>,
    /// `name`: the tool of a tool message.
    pub name: Option<Arc<str>>,
    /// `reasoning_content`.
    pub reasoning: Option<Text>,
    /// All other fields, verbatim.
    pub rest: Rest,
    /// Kind of a message that a policy added.
    pub written: Option<WrittenKind>,
    /// Index of the part of the session that represents a missing content, `null` or an empty list.
    pub stands_for: Option<u32>,
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// No such field.
    Missing,
    /// `null`.
    Null,
    /// A single text.
    Text(Text),
    /// A list of blocks.
    Blocks(Vec<Block>),
    /// Any other value, verbatim.
    Other(Box<Value>),
}

/// A text and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text.
    pub text: Arc<str>,
    /// Index of the part of the session that it came from, possibly shortened.
    pub part: Option<u32>,
}

/// One block of a message's content.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Index of the part of the session that it came from.
    pub part: Option<u32>,
    /// Content.
    pub body: BlockBody,
}

/// Content of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockBody {
    /// `text`.
    Text(Arc<str>),
    /// `image_url` or `image`.
    Image(Image),
    /// `tool_use`.
    ToolUse {
        /// Id of the call.
        id: Arc<str>,
        /// Name of the tool.
        name: Arc<str>,
        /// Arguments.
        input: Value,
    },
    /// `tool_result`.
    ToolResult {
        /// Id of the call.
        id: Arc<str>,
        /// Output of the tool.
        content: Box<Content>,
        /// `is_error`, if present.
        is_error: Option<bool>,
    },
    /// `thinking`.
    Thinking(Value),
    /// Any other value, including bare texts, verbatim.
    Other(Value),
}

/// An image in a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The block as JSON, without its payload if it came from a session.
    pub json: Arc<Value>,
    /// Width and height in pixels, if a session records them.
    pub pixels: Option<(u32, u32)>,
}

/// Tool calls of an assistant message.
#[derive(Clone, Debug, PartialEq)]
pub enum Calls {
    /// No such field.
    Missing,
    /// `null`, which some systems distinguish from a missing field.
    Null,
    /// A list of calls.
    List(Vec<Call>),
    /// Any other value, verbatim: not a list, or a list with items other than objects.
    Other(Box<Value>),
}

/// One tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Index of the part of the session that it came from.
    pub part: Option<u32>,
    /// Id of the call.
    pub id: Option<Arc<str>>,
    /// Tool and arguments.
    pub function: Option<Function>,
    /// All other fields (`type`), verbatim.
    pub rest: Rest,
}

/// Tool and arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name of the tool.
    pub name: Arc<str>,
    /// Arguments.
    pub arguments: Arguments,
    /// All other fields, verbatim.
    pub rest: Rest,
}

/// Arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// Text, which is JSON unless the model made a mistake.
    Text(Arc<str>),
    /// A JSON value.
    Json(Box<Value>),
    /// No arguments.
    Missing,
}

/// Usual roles. Messages share these texts.
static ROLES: LazyLock<[Arc<str>; 4]> = LazyLock::new(|| Role::ALL.map(|role| role.name().into()));

impl Fields {
    /// Creates the fields of a message without anything but a role and a content.
    pub fn new(role: &str, content: Content) -> Self {
        let usual = ROLES.iter().find(|usual| &***usual == role);
        Self {
            role: usual.map_or_else(|| role.into(), Arc::clone),
            content,
            calls: Calls::Missing,
            call_id: None,
            name: None,
            reasoning: None,
            rest: Rest::default(),
            written: None,
            stands_for: None,
        }
    }
}

impl ChatMessage {
    /// Creates a message with one text that belongs to no session.
    pub fn new(role: &str, text: impl Into<Arc<str>>) -> Self {
        Self::from(Fields::new(role, Content::text(text)))
    }

    /// Creates a summary that a policy adds in place of messages.
    pub fn summary(role: &str, text: impl Into<Arc<str>>) -> Self {
        Self::from(Fields {
            written: Some(WrittenKind::Summary),
            ..Self::new(role, text).into_fields()
        })
    }

    /// Creates a notice that a policy adds.
    pub fn notice(role: &str, text: impl Into<Arc<str>>) -> Self {
        Self::from(Fields {
            written: Some(WrittenKind::Notice),
            ..Self::new(role, text).into_fields()
        })
    }

    /// Creates a text that a policy adds to the message before it.
    pub fn addition(role: &str, text: impl Into<Arc<str>>) -> Self {
        Self::from(Fields {
            written: Some(WrittenKind::Addition),
            ..Self::new(role, text).into_fields()
        })
    }

    /// Creates the result of a call, as a notice that a policy adds.
    pub fn notice_result(call: &Call, text: impl Into<Arc<str>>) -> Self {
        Self::from(Fields { call_id: call.id.clone(), ..Self::notice("tool", text).into_fields() })
    }

    /// Returns the message with these calls. Without any, it has no such field.
    #[must_use]
    pub fn with_calls(mut self, calls: Vec<Call>) -> Self {
        self.calls = if calls.is_empty() { Calls::Missing } else { Calls::List(calls) };
        self
    }

    /// Returns the part that represents the empty content, as long as it is empty.
    pub(crate) fn empty_part(&self) -> Option<u32> {
        self.stands_for.filter(|_| self.content.is_empty())
    }

    /// Returns whether the message has this role.
    pub fn is(&self, role: &str) -> bool {
        &*self.role == role
    }

    /// Returns the tool calls. Empty if the field is missing or `null`.
    pub fn calls(&self) -> &[Call] {
        match &self.calls {
            Calls::List(calls) => calls,
            _ => &[],
        }
    }

    /// Returns the blocks. Empty if the content is not a list.
    pub fn blocks(&self) -> &[Block] {
        match &self.content {
            Content::Blocks(blocks) => blocks,
            _ => &[],
        }
    }

    /// Returns the content if it is a single text.
    pub fn text(&self) -> Option<&str> {
        self.content.as_text()
    }

    /// Returns the single text, or the text blocks joined by `separator`.
    pub fn joined_text(&self, separator: &str) -> Cow<'_, str> {
        match &self.content {
            Content::Text(text) => Cow::Borrowed(&text.text),
            Content::Blocks(blocks) => {
                let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
                texts.join(separator).into()
            }
            Content::Missing | Content::Null | Content::Other(_) => Cow::Borrowed(""),
        }
    }

    /// Iterates over the indices of all parts of the session in the message.
    pub fn parts(&self) -> impl Iterator<Item = u32> {
        // Most messages are a single text, which needs no list.
        let (text, content) = match &self.content {
            Content::Text(text) => (text.part, Vec::new()),
            content => (None, content.parts()),
        };
        let calls = self.calls().iter().filter_map(|call| call.part);
        let reasoning = self.reasoning.as_ref().and_then(|r| r.part);
        let content = text.into_iter().chain(content).chain(self.empty_part());
        content.chain(calls).chain(reasoning)
    }
}

impl Call {
    /// Returns the name of the tool. Empty if the call has none.
    pub fn tool(&self) -> &str {
        self.function.as_ref().map_or("", |f| &f.name)
    }

    /// Returns the arguments as text; empty if the call has none.
    pub fn arguments_as_text(&self) -> Cow<'_, str> {
        match self.function.as_ref().map(|f| &f.arguments) {
            Some(Arguments::Text(text)) => Cow::Borrowed(text),
            Some(Arguments::Json(value)) => value.to_string().into(),
            Some(Arguments::Missing) | None => Cow::default(),
        }
    }

    /// Returns the arguments as a value; a text that is not JSON is a string.
    pub fn arguments_as_value(&self) -> Value {
        match self.function.as_ref().map(|f| &f.arguments) {
            Some(Arguments::Text(text)) => {
                crate::json::from_str(text).unwrap_or_else(|_| Value::from(&**text))
            }
            Some(Arguments::Json(value)) => (**value).clone(),
            Some(Arguments::Missing) | None => Value::Null,
        }
    }
}

impl Content {
    /// Creates a single text that belongs to no session.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(Text { text: text.into(), part: None })
    }

    /// Returns whether it contains nothing, not even an empty text.
    fn is_empty(&self) -> bool {
        match self {
            Self::Missing | Self::Null => true,
            Self::Blocks(blocks) => blocks.is_empty(),
            Self::Text(_) | Self::Other(_) => false,
        }
    }

    /// Returns whether it is an empty text without an origin: recorded with calls or reasoning, unless it is new.
    pub fn is_empty_text(&self) -> bool {
        matches!(self, Self::Text(text) if text.part.is_none() && text.text.is_empty())
    }

    /// Returns whether it has no text of its own.
    pub fn is_silent(&self) -> bool {
        self.is_empty() || self.is_empty_text()
    }

    /// Returns the text if the content is a single one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.text),
            _ => None,
        }
    }

    /// Returns the index of the first part of the session in it.
    pub fn first_part(&self) -> Option<u32> {
        match self {
            Self::Text(text) => text.part,
            Self::Blocks(blocks) => blocks.iter().find_map(Block::first_part),
            Self::Missing | Self::Null | Self::Other(_) => None,
        }
    }

    /// Returns the indices of all parts of the session in it, including those of results.
    fn parts(&self) -> Vec<u32> {
        match self {
            Self::Text(text) => text.part.into_iter().collect(),
            Self::Blocks(blocks) => blocks.iter().flat_map(Block::parts).collect(),
            Self::Missing | Self::Null | Self::Other(_) => Vec::new(),
        }
    }
}

impl Block {
    /// Creates a text block that belongs to no session.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self { part: None, body: BlockBody::Text(text.into()) }
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            BlockBody::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the index of the first part of the session in it.
    fn first_part(&self) -> Option<u32> {
        self.part.or_else(|| match &self.body {
            BlockBody::ToolResult { content, .. } => content.first_part(),
            _ => None,
        })
    }

    /// Returns the indices of all parts of the session in it.
    fn parts(&self) -> Vec<u32> {
        let mut parts: Vec<u32> = self.part.into_iter().collect();
        if let BlockBody::ToolResult { content, .. } = &self.body {
            parts.extend(content.parts());
        }
        parts.dedup();
        parts
    }
}
