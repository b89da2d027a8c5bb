//! A parsed record of the file.

use super::hash::Hash;
use super::id::Id;
use crate::session::{Calibration, Part, Span, Usage};
use crate::units::{Millis, Tokens};
use std::borrow::Cow;

/// A record of the file.
#[derive(Debug)]
pub(super) struct ClaudeEntry {
    /// Byte range in the file.
    pub span: Span,
    /// Line number from 1.
    pub line: usize,
    /// Kind of record, as named in the import report.
    pub label: Cow<'static, str>,
    /// Position in the tree of records, for records that are part of it.
    pub node: Option<EntryNode>,
    /// Time at which it was written.
    pub time: Option<Millis>,
    /// Whether it records its working folder.
    pub names_folder: bool,
    /// Content of the record.
    pub kind: EntryKind,
    /// The sub-agent whose result this is, and the call.
    pub agent_result: Option<Box<AgentResult>>,
    /// The sub-agent record inside this `progress` record.
    pub embedded: Option<Box<Embedded>>,
}

/// A result of a sub-agent.
#[derive(Debug)]
pub(super) struct AgentResult {
    /// Id of the sub-agent.
    pub agent: Box<str>,
    /// Id of the call.
    pub call: Box<str>,
}

/// A sub-agent record inside a `progress` record.
#[derive(Debug)]
pub(super) struct Embedded {
    /// Id of the sub-agent.
    pub agent: Box<str>,
    /// The tool call that started it.
    pub call: Option<Box<str>>,
    pub entry: ClaudeEntry,
}

/// A record's position in the tree.
#[derive(Debug)]
pub(super) struct EntryNode {
    pub uuid: Option<Id>,
    pub parent: Option<Id>,
    /// Part of a sub-agent's conversation.
    pub is_sidechain: bool,
    /// Id of the sub-agent, in newer versions.
    pub agent: Option<Box<str>>,
}

/// Content of a record.
#[derive(Debug)]
pub(super) enum EntryKind {
    /// A message of the user, a tool or the harness.
    Message(ClaudeMessage),
    /// A record of a model answer.
    Answer(ClaudeAnswer),
    /// The error message of a call that the provider rejected because its context was too long.
    Rejection(Box<str>),
    /// A compaction.
    Boundary(Boundary),
    /// The id of the last record of the current conversation.
    Leaf(Id),
    /// A title, and whether the user set it.
    Title(Box<str>, bool),
    /// The program cleared old tool results without recording which.
    Microcompaction,
    /// End of a managed conversation, with its calibration.
    Managed(Option<Calibration>),
    /// Instructions that the program sends again at each call, and its version.
    Snapshot(Version),
    /// Instructions and tool definitions of recorded requests, with their key and the version of the program.
    Shape(Box<str>, Version),
    /// A message of recorded requests, with its hash.
    Blob(Hash),
    /// A request that the program recorded.
    Request(Box<RequestRecord>),
    /// Content that is not sent to the model.
    Other,
}

/// A message sent to the model.
#[derive(Debug, Default)]
pub(super) struct ClaudeMessage {
    pub parts: Vec<Part>,
    pub is_injected: bool,
    pub is_summary: bool,
    pub origin: MessageOrigin,
    /// Reasoning effort that the user set.
    pub effort: Option<Box<str>>,
    /// Content of its last tool result.
    pub result_content: ResultContent,
}

/// Version of the program: its first three numbers.
pub(super) type Version = [u16; 3];

/// Notation of a tool result's content. It decides how a reminder joins it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ResultContent {
    /// A text, or nothing.
    #[default]
    Text,
    /// A list whose last block is a text.
    EndsWithText,
    /// A list whose last block is not a text.
    EndsWithOther,
}

/// Relation of a message to the record before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MessageOrigin {
    #[default]
    Own,
    /// Added by a tool call.
    Call,
    /// An attachment of which the file has the data only.
    Attachment {
        /// Version of the program that wrote it.
        version: Version,
    },
    /// An attachment with the text that is sent.
    Rendered {
        /// Version of the program that wrote it.
        version: Version,
        /// It follows tool results as a block of its own. Other texts are written into the last result.
        is_beside: bool,
    },
}

impl MessageOrigin {
    /// Returns whether the message is an attachment.
    pub(super) fn is_attachment(self) -> bool {
        matches!(self, Self::Attachment { .. } | Self::Rendered { .. })
    }
}

/// A record of a model answer, which may span several records.
#[derive(Debug)]
pub(super) struct ClaudeAnswer {
    /// Key shared by all records of one answer.
    pub group: Option<Box<str>>,
    pub model: Option<Box<str>>,
    pub usage: Option<Usage>,
    /// Whether the answer reached its maximum length.
    pub is_cut: bool,
    pub parts: Vec<Part>,
    /// Id of the recorded request that it answers.
    pub request: Option<Box<str>>,
}

/// A request that the program recorded.
#[derive(Debug)]
pub(super) struct RequestRecord {
    pub id: Box<str>,
    /// The request whose first messages it repeats.
    pub base: Option<Box<str>>,
    /// Number of these messages.
    pub keep: usize,
    /// Hashes of the messages that follow.
    pub tail: Vec<Hash>,
    /// Key of its instructions and tool definitions.
    pub shape: Box<str>,
    /// Texts were left out of the record.
    pub is_cut: bool,
    /// Version of the program that sent it.
    pub version: Version,
}

/// A compaction by the program.
#[derive(Debug)]
pub(super) struct Boundary {
    /// Version of the program that wrote it.
    pub version: Version,
    pub trigger: String,
    pub before: Option<Tokens>,
    pub after: Option<Tokens>,
    /// Records of the messages it kept.
    pub preserved: Vec<Id>,
    /// First and last record of a range that it kept.
    pub preserved_range: Option<(Id, Id)>,
    /// The record that the kept messages follow.
    pub anchor: Option<Id>,
    /// The kept messages precede the summary.
    pub preserved_first: bool,
}

impl Boundary {
    /// Returns whether it kept messages.
    pub(super) fn keeps_messages(&self) -> bool {
        !self.preserved.is_empty() || self.preserved_range.is_some()
    }
}

impl ClaudeEntry {
    /// Moves the parts out of the record.
    pub(super) fn take_parts(&mut self) -> Vec<Part> {
        match &mut self.kind {
            EntryKind::Message(message) => std::mem::take(&mut message.parts),
            EntryKind::Answer(answer) => std::mem::take(&mut answer.parts),
            _ => Vec::new(),
        }
    }
}

/// Returns the last title that the user set, else the last one of the program.
pub(super) fn recorded_title(entries: &[ClaudeEntry]) -> Option<String> {
    let last = |by_user: bool| {
        entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Title(title, by) if *by == by_user => Some(title.to_string()),
            _ => None,
        })
    };
    last(true).or_else(|| last(false))
}
