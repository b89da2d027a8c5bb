//! Messages as the index stores them: compressed, with the fields that queries read.

use crate::analysis::query::QuerySubject;
use crate::exec::load::FileSessions;
use crate::session::{Body, ImageDetail, MediaKind, Message, Part, Role, Session};
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// Maximum size of a stored message after decompression, in bytes. The size is stored in four bytes, so damaged ones
/// could otherwise request 4 GiB. A message of the index has at most 256 MiB of text.
const MAX_BYTES: usize = 1 << 30;

/// A session in the index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredSession {
    /// Index in its file.
    pub(crate) number: usize,
    /// Whether its number must be named to open it.
    pub(crate) is_numbered: bool,
    /// Title.
    pub(crate) title: String,
    /// Folder in which the agent worked.
    pub(crate) project: Option<String>,
    /// Name of the format.
    pub(crate) format: String,
    /// Time of its last change in milliseconds since 1970, if its database records it.
    pub(crate) updated: Option<i64>,
    /// Times of its first and last call in milliseconds since 1970.
    pub(crate) times: Option<(i64, i64)>,
    /// Id in its database.
    pub(crate) id: Option<String>,
}

impl StoredSession {
    /// Describes a session of a file.
    pub(crate) fn new(sessions: &FileSessions, number: usize, session: &Session) -> Self {
        let entry = sessions.entry(number);
        let times = || session.calls.iter().filter_map(|call| call.time.map(|time| time.0));
        Self {
            number,
            is_numbered: sessions.are_numbered(),
            title: session.title.clone(),
            project: session.project.clone(),
            format: session.source.format.to_owned(),
            updated: entry.and_then(|entry| entry.updated).map(|time| time.0),
            times: times().min().zip(times().max()),
            id: entry.map(|entry| entry.id.clone()),
        }
    }
}

/// A stored message. Texts are borrowed to write them and owned to read them.
#[derive(Serialize, Deserialize)]
struct StoredMessage<T> {
    index: usize,
    /// Index in [`Role::ALL`].
    role: u8,
    turn: u32,
    call: Option<usize>,
    tokens: Option<u64>,
    is_injected: bool,
    is_summary: bool,
    parts: Vec<StoredPart<T>>,
}

#[derive(Serialize, Deserialize)]
struct StoredPart<T> {
    kind: PartKind,
    tool: Option<T>,
    text: T,
}

/// Kind of a part's body.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum PartKind {
    Text,
    Thinking,
    Definition,
    Call,
    Result,
    Error,
    Media,
    Opaque,
}

/// Returns a message as bytes.
pub(super) fn encode(subject: &QuerySubject<'_>) -> Vec<u8> {
    let role = Role::ALL.iter().position(|role| *role == subject.message.role);
    let stored = StoredMessage {
        index: subject.index,
        role: role.unwrap_or_default() as u8,
        turn: subject.message.turn,
        call: subject.call,
        tokens: subject.tokens.map(|tokens| tokens.0),
        is_injected: subject.message.is_injected,
        is_summary: subject.message.is_summary,
        parts: subject.parts.iter().map(stored_part).collect(),
    };
    // Texts and numbers always serialize.
    let json = serde_json::to_vec(&stored).unwrap_or_default();
    lz4_flex::compress_prepend_size(&json)
}

/// Returns the text of a message that is searched: the texts and tool names of its parts.
pub(super) fn indexed_text(subject: &QuerySubject<'_>) -> String {
    let mut text = String::new();
    for part in subject.parts {
        for part in [part.body.tool().unwrap_or_default(), part.body.text()] {
            text.push_str(part);
            text.push('\n');
        }
    }
    text
}

fn stored_part(part: &Part) -> StoredPart<&str> {
    let kind = match &part.body {
        Body::Text(_) => PartKind::Text,
        Body::Thinking { .. } => PartKind::Thinking,
        Body::ToolDefinition { .. } => PartKind::Definition,
        Body::ToolCall { .. } => PartKind::Call,
        Body::ToolResult { is_error: true, .. } => PartKind::Error,
        Body::ToolResult { .. } => PartKind::Result,
        Body::Media { .. } => PartKind::Media,
        Body::Opaque { .. } => PartKind::Opaque,
    };
    StoredPart { kind, tool: part.body.tool(), text: part.body.text() }
}

/// A message read from the index.
pub(super) struct RestoredMessage {
    index: usize,
    call: Option<usize>,
    tokens: Option<Tokens>,
    message: Message,
    parts: Vec<Part>,
}

impl RestoredMessage {
    /// Reads a message; `None` if its bytes are damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let size = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
        let json = (size <= MAX_BYTES).then(|| lz4_flex::decompress_size_prepended(bytes))?;
        let stored: StoredMessage<Box<str>> = serde_json::from_slice(&json.ok()?).ok()?;
        let n_parts = stored.parts.len();
        Some(Self {
            index: stored.index,
            call: stored.call,
            tokens: stored.tokens.map(Tokens),
            message: Message {
                id: None,
                role: *Role::ALL.get(usize::from(stored.role))?,
                turn: stored.turn,
                time: None,
                is_injected: stored.is_injected,
                is_summary: stored.is_summary,
                in_history: true,
                call: None,
                parts: 0..n_parts,
                empty: None,
                raw: Vec::new(),
            },
            parts: stored.parts.into_iter().map(restored_part).collect(),
        })
    }

    /// Returns the message for a query.
    pub(super) fn subject(&self) -> QuerySubject<'_> {
        QuerySubject {
            index: self.index,
            message: &self.message,
            parts: &self.parts,
            call: self.call,
            tokens: self.tokens,
        }
    }
}

fn restored_part(stored: StoredPart<Box<str>>) -> Part {
    let StoredPart { kind, tool, text } = stored;
    let (tool, call) = (tool.unwrap_or_default(), Box::default());
    let body = match kind {
        PartKind::Text => Body::Text(text),
        PartKind::Thinking => Body::Thinking { text, sealed_bytes: 0, reported: None },
        PartKind::Definition => Body::ToolDefinition { tool, json: text },
        PartKind::Call => Body::ToolCall { call, tool, arguments: text },
        PartKind::Result | PartKind::Error => {
            Body::ToolResult { call, tool, is_error: matches!(kind, PartKind::Error), text }
        }
        PartKind::Media => Body::Media {
            media: MediaKind::Image,
            mime: Box::default(),
            bytes: 0,
            pixels: None,
            detail: ImageDetail::Auto,
            within: None,
        },
        PartKind::Opaque => Body::Opaque { name: Box::default(), json: text },
    };
    Part { body, record: 0, block: 0 }
}
