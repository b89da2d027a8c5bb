//! A message of the conversation.

use super::{Body, Kind, Part};
use crate::units::Millis;
use std::ops::Range;

/// A byte range of the source.
pub type Span = Range<usize>;

/// Role of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Instructions and tool definitions (`system`, `developer`).
    System,
    /// The user, or the harness on the user's behalf.
    User,
    /// The model.
    Assistant,
    /// Tool results, in formats with a separate role for them.
    Tool,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// Returns the name used in the window, in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Form of a content that holds nothing. Programs count the forms differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyContent {
    /// No such field.
    Missing,
    /// `null`.
    Null,
    /// An empty text.
    Text,
    /// An empty list.
    List,
}

/// A message: its role, its time and its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Id in the file, if it has one.
    pub id: Option<Box<str>>,
    /// Role of the sender.
    pub role: Role,
    /// Index of the turn, from 1. A user message opens a turn. So does a model call before any user message, together
    /// with the injected messages before it, and the first call for a user message that the file does not record.
    /// Messages before the first turn have 0; a call never does.
    pub turn: u32,
    /// Recorded time.
    pub time: Option<Millis>,
    /// Whether the harness wrote it on the user's behalf (reminder, attachment, command output). Such a message opens
    /// no turn.
    pub is_injected: bool,
    /// Whether it is a summary of a recorded compaction.
    pub is_summary: bool,
    /// Whether it is part of the full history. False for messages that a recorded compaction wrote or copied. Only the
    /// lane `recorded` includes these; replays do not.
    pub in_history: bool,
    /// Index of the call that produced it, for assistant messages.
    pub call: Option<usize>,
    /// Range in [`super::Session::parts`]. A message without content has an empty text as its only part.
    pub parts: Range<usize>,
    /// Form of the content if it is empty and the format distinguishes the forms.
    pub empty: Option<EmptyContent>,
    /// The records of the file it was read from, in order. Usually one; several if a format splits a message. Empty if
    /// it was not read from a record of its own (a body's `system` or `tools`).
    pub raw: Vec<Span>,
}

impl Message {
    /// Returns the role of the author of these parts of the message: of the tool if all are results that a format sends
    /// as the user's.
    pub fn author(&self, parts: &[Part]) -> Role {
        let is_result = |part: &Part| matches!(part.body, Body::ToolResult { .. });
        match self.role {
            Role::User if !parts.is_empty() && parts.iter().all(is_result) => Role::Tool,
            role => role,
        }
    }
}

/// Returns the kind of a part of a message.
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
