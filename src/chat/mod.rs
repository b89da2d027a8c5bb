//! A conversation as an agent's own program keeps it: messages with a role, content and calls, in one of two shapes.
//!
//! Real systems do not work on our parts but on lists of such messages, and their rules depend on the shape (a `null`
//! content, a list of blocks, results grouped in one message or not). Their rules are written over these types, so
//! that the same function runs in a replay and on a file of messages. What was said keeps the part of the session
//! that it came from, wherever a rule moves it. Nothing here knows of any system.

mod answer;
mod dialogue;
mod json;
mod message;
mod messages;
mod python;
mod view;

pub use answer::join_answer;
pub use dialogue::{Ask, Dialogue, Heard, Wants, converse};
pub use json::{call_from_json, message_from_json, message_to_json};
pub use message::{ChatMessage, Rule};
pub use messages::{Mark, Messages};
pub use python::{Layout, python_dumps, python_number, python_str};
pub use view::{Replaced, Shape, messages_of, push_grouped};

use crate::session::WrittenKind;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a message holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    /// `system`, `user`, `assistant`, `tool`, or what the file says.
    pub role: Arc<str>,
    /// What is said.
    pub content: Content,
    /// `tool_calls` of an assistant's message.
    pub calls: Calls,
    /// `tool_call_id` of a tool's message.
    pub call_id: Option<Arc<str>>,
    /// `name`: the tool of a tool's message.
    pub name: Option<Arc<str>>,
    /// `reasoning_content`.
    pub reasoning: Option<Text>,
    /// All other fields, verbatim.
    pub rest: Map<String, Value>,
    /// Set where a policy wrote the message itself.
    pub written: Option<WrittenKind>,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// There is no such field.
    Missing,
    /// `null`.
    Null,
    /// One text.
    Text(Text),
    /// A list of blocks.
    Blocks(Vec<Block>),
    /// Something else, verbatim.
    Other(Value),
}

/// A text and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text.
    pub text: Arc<str>,
    /// The part of the session whose content it is, or what is left of it.
    pub part: Option<u32>,
}

/// One block of a message's content.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The part of the session it came from.
    pub part: Option<u32>,
    /// What it is.
    pub body: BlockBody,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockBody {
    /// `text`.
    Text(Arc<str>),
    /// `image_url` or `image`.
    Image(Image),
    /// `tool_use`.
    ToolUse {
        /// Its id, joined by the result.
        id: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// Its arguments.
        input: Value,
    },
    /// `tool_result`.
    ToolResult {
        /// The id of its call.
        id: Arc<str>,
        /// What the tool said.
        content: Box<Content>,
        /// `is_error`, where the block has it.
        is_error: Option<bool>,
    },
    /// `thinking`.
    Thinking(Value),
    /// Anything else, bare texts included, verbatim.
    Other(Value),
}

/// A picture in a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The block as it stands in JSON; without its payload where it came from a session.
    pub json: Arc<Value>,
    /// Width and height, where a session knows them.
    pub pixels: Option<(u32, u32)>,
}

/// The calls of an assistant's message.
#[derive(Clone, Debug, PartialEq)]
pub enum Calls {
    /// There is no such field.
    Missing,
    /// `null`, which is not the same to every system.
    Null,
    /// The calls.
    List(Vec<Call>),
    /// Something else, verbatim: no list, or a list of which an item is no object.
    Other(Value),
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The part of the session it came from.
    pub part: Option<u32>,
    /// Its id.
    pub id: Option<Arc<str>>,
    /// Tool and arguments.
    pub function: Option<Function>,
    /// All other fields (`type`), verbatim.
    pub rest: Map<String, Value>,
}

/// What a call asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The tool.
    pub name: Arc<str>,
    /// Its arguments.
    pub arguments: Arguments,
}

/// Arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// As text, which is JSON if the model wrote it well.
    Text(Arc<str>),
    /// As a value.
    Json(Value),
    /// There are none.
    Missing,
}

impl ChatMessage {
    /// A message with one text, of no session.
    pub fn new(role: &str, text: impl Into<Arc<str>>) -> Self {
        Self::from(Fields {
            role: role.into(),
            content: Content::text(text),
            calls: Calls::Missing,
            call_id: None,
            name: None,
            reasoning: None,
            rest: Map::new(),
            written: None,
        })
    }

    /// A summary that a policy puts in the place of messages.
    pub fn summary(role: &str, text: impl Into<Arc<str>>) -> Self {
        Self::from(Fields {
            written: Some(WrittenKind::Summary),
            ..Self::new(role, text).into_fields()
        })
    }

    /// A notice of a policy's own.
    pub fn notice(role: &str, text: impl Into<Arc<str>>) -> Self {
        Self::from(Fields {
            written: Some(WrittenKind::Notice),
            ..Self::new(role, text).into_fields()
        })
    }

    /// Whether it has this role.
    pub fn is(&self, role: &str) -> bool {
        &*self.role == role
    }

    /// Its calls; none if the field is missing or `null`.
    pub fn calls(&self) -> &[Call] {
        match &self.calls {
            Calls::List(calls) => calls,
            _ => &[],
        }
    }

    /// Its blocks; none if its content is no list.
    pub fn blocks(&self) -> &[Block] {
        match &self.content {
            Content::Blocks(blocks) => blocks,
            _ => &[],
        }
    }

    /// Its content if that is one text.
    pub fn text(&self) -> Option<&str> {
        self.content.as_text()
    }

    /// Every part of the session that it holds something of.
    pub fn parts(&self) -> impl Iterator<Item = u32> {
        // Most say one text: that takes no list.
        let (text, content) = match &self.content {
            Content::Text(text) => (text.part, Vec::new()),
            content => (None, content.parts()),
        };
        let calls = self.calls().iter().filter_map(|call| call.part);
        let reasoning = self.reasoning.as_ref().and_then(|r| r.part);
        let content = text.into_iter().chain(content);
        content.chain(calls).chain(reasoning)
    }
}

impl Content {
    /// One text, of no session.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(Text {
            text: text.into(),
            part: None,
        })
    }

    /// Its text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.text),
            _ => None,
        }
    }

    /// The first part of the session in it.
    pub fn first_part(&self) -> Option<u32> {
        match self {
            Self::Text(text) => text.part,
            Self::Blocks(blocks) => blocks.iter().find_map(Block::first_part),
            Self::Missing | Self::Null | Self::Other(_) => None,
        }
    }

    /// Every part of the session in it, results' own contents included.
    fn parts(&self) -> Vec<u32> {
        match self {
            Self::Text(text) => text.part.into_iter().collect(),
            Self::Blocks(blocks) => blocks.iter().flat_map(Block::parts).collect(),
            Self::Missing | Self::Null | Self::Other(_) => Vec::new(),
        }
    }
}

impl Block {
    /// A block of text, of no session.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self {
            part: None,
            body: BlockBody::Text(text.into()),
        }
    }

    /// Its text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            BlockBody::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The first part of the session in it.
    fn first_part(&self) -> Option<u32> {
        self.part.or_else(|| match &self.body {
            BlockBody::ToolResult { content, .. } => content.first_part(),
            _ => None,
        })
    }

    /// Every part of the session in it.
    fn parts(&self) -> Vec<u32> {
        let mut parts: Vec<u32> = self.part.into_iter().collect();
        if let BlockBody::ToolResult { content, .. } = &self.body {
            parts.extend(content.parts());
        }
        parts.dedup();
        parts
    }
}
