//! One role's entry in the conversation.

use super::{Body, Kind, Part};
use crate::units::Millis;
use std::ops::Range;

/// A range of the source's bytes.
pub type Span = Range<usize>;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Instructions and tool definitions (`system`, `developer`).
    System,
    /// A person, or what the harness says in a person's place.
    User,
    /// The model.
    Assistant,
    /// Results of tools, where the format gives them a role of their own.
    Tool,
}

impl Role {
    /// The name used on screen, in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One role's entry: who, when, and which parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its id in the file, if it has one.
    pub id: Option<Box<str>>,
    /// Who speaks.
    pub role: Role,
    /// The turn it belongs to, from 1. A person's own words open one; so does a model call before any of them, with
    /// what the harness said first in a person's place. 0 is what stands before the first turn: no step has it.
    pub turn: u32,
    /// When, as recorded.
    pub time: Option<Millis>,
    /// Written by the harness in a person's place (reminder, attachment, command output): starts no turn.
    pub is_injected: bool,
    /// A summary that the source's own compaction wrote.
    pub is_summary: bool,
    /// Part of the full history. False for what exists only because the source's own compaction wrote or
    /// copied it: the lane `recorded` sees such messages, a replay does not.
    pub in_history: bool,
    /// Index of the step that wrote it, for what the model said.
    pub step: Option<usize>,
    /// Range in [`super::Session::parts`].
    pub parts: Range<usize>,
    /// The records of the file it was read from, in order: usually one; several where a format splits a message.
    /// Empty where it was not read from a record of its own (a body's `system` or `tools`).
    pub raw: Vec<Span>,
}

/// What a part of a message counts as.
pub fn kind_of(message: &Message, part: &Part) -> Kind {
    match &part.body {
        Body::ToolDefinition { .. } => Kind::Tools,
        Body::Thinking { .. } => Kind::Thinking,
        Body::ToolCall { .. } => Kind::ToolCall,
        Body::ToolResult { .. } => Kind::ToolResult,
        Body::Media { .. } => Kind::Media,
        Body::Text(_) | Body::Opaque { .. } if message.is_summary => Kind::Summary,
        Body::Text(_) | Body::Opaque { .. } => match message.role {
            Role::System => Kind::System,
            Role::User => Kind::User,
            Role::Assistant => Kind::Assistant,
            Role::Tool => Kind::ToolResult,
        },
    }
}
