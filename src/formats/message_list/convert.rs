//! A managed conversation in no format's words, for the formats to write a session that is another's.
//!
//! Images have their payload again; texts of nothing but white space, which providers refuse, are left out. In which
//! order it stands is [`order`].

use super::media::{self, Media};
use super::order;
use crate::formats::json;
use crate::session::{
    Body, Managed, ManagedEntry, ManagedPart, MediaKind, Message, Part, Role, Session,
};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write as _;

/// What one role says.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats) struct Turn {
    /// Who.
    pub(in crate::formats) role: Role,
    /// What.
    pub(in crate::formats) blocks: Vec<Block>,
}

/// A piece of it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats) enum Block {
    /// A text that is more than white space.
    Text(String),
    /// A thought with its seal, as Anthropic writes it; thoughts of others cannot be sent again.
    Thinking(Value),
    /// A block that is Anthropic's own.
    Native(Value),
    /// A definition of a tool, in whatever words.
    Tool(Value),
    /// A tool call.
    Call {
        /// Its id, unique.
        call: String,
        /// The tool.
        tool: String,
        /// As the model wrote them.
        arguments: String,
    },
    /// Its result.
    Result {
        /// The call's id.
        call: String,
        /// The tool failed.
        is_error: bool,
        /// Its text, maybe empty.
        text: String,
        /// Images and other media in it.
        media: Vec<Self>,
    },
    /// An image, a sound or a document.
    Media(Media),
}

/// The conversation as turns.
pub(in crate::formats) fn turns(session: &Session, managed: &Managed) -> Vec<Turn> {
    let mut turns = Vec::with_capacity(managed.entries.len());
    for entry in &managed.entries {
        match entry {
            ManagedEntry::Written { role, text, .. } => {
                turns.push(Turn {
                    role: *role,
                    blocks: text_block(text).into_iter().collect(),
                });
            }
            ManagedEntry::Kept { message } => {
                if let Some(message) = session.messages.get(*message) {
                    let parts = message.parts.clone().map(|part| ManagedPart::Kept { part });
                    push_message(session, message, &parts.collect::<Vec<_>>(), &mut turns);
                }
            }
            ManagedEntry::Edited { message, parts } => {
                if let Some(message) = session.messages.get(*message) {
                    push_message(session, message, parts, &mut turns);
                }
            }
        }
    }
    order::ordered(turns)
}

/// A request of either kind: its members in order, the messages one a line.
pub(in crate::formats) fn document(members: &[(&str, Value)], messages: Lines) -> Vec<u8> {
    let members = members
        .iter()
        .map(|(key, value)| format!("  \"{key}\": {value},\n"));
    let head = format!("{{\n{}  \"messages\": [\n", members.collect::<String>());
    let mut text = messages.0;
    text.insert_str(0, &head);
    text.push_str("\n  ]\n}\n");
    text.into_bytes()
}

/// Messages of a document as they are written, one a line: as values they would take many times as much.
#[derive(Default)]
pub(in crate::formats) struct Lines(String);

impl Lines {
    /// Adds a message.
    pub(in crate::formats) fn push(&mut self, message: &Value) {
        let gap = if self.0.is_empty() { "" } else { ",\n" };
        let _ = write!(self.0, "{gap}    {message}");
    }
}

/// A text, if it says anything.
pub(super) fn text_block(text: &str) -> Option<Block> {
    (!text.trim().is_empty()).then(|| Block::Text(text.to_owned()))
}

/// Adds a message; what a model cannot say in its own message (an image) follows as a user's.
fn push_message(
    session: &Session,
    message: &Message,
    parts: &[ManagedPart],
    turns: &mut Vec<Turn>,
) {
    let mut records = Records::new(session, message);
    let mut blocks: Vec<Block> = Vec::with_capacity(parts.len());
    for managed in parts {
        let (idx, new_text) = match managed {
            ManagedPart::Kept { part } => (*part, None),
            ManagedPart::Replaced { part, text } => (*part, Some(text.as_str())),
        };
        let Some(part) = session.parts.get(idx) else {
            continue;
        };
        let block = block(session, part, idx, new_text, &mut records);
        let within = if let Body::Media { within, .. } = &part.body {
            within.as_deref()
        } else {
            None
        };
        match (block, within.and_then(|id| result_of(&mut blocks, id))) {
            (Some(block), Some(media)) => media.push(block),
            (block, _) => blocks.extend(block),
        }
    }
    let is_shown = |b: &Block| message.role == Role::Assistant && matches!(b, Block::Media(_));
    let (shown, said): (Vec<_>, Vec<_>) = blocks.into_iter().partition(is_shown);
    turns.push(Turn {
        role: message.role,
        blocks: said,
    });
    if !shown.is_empty() {
        turns.push(Turn {
            role: Role::User,
            blocks: shown,
        });
    }
}

/// The media of the result of this call among the blocks.
fn result_of<'a>(blocks: &'a mut [Block], id: &str) -> Option<&'a mut Vec<Block>> {
    blocks.iter_mut().rev().find_map(|block| match block {
        Block::Result { call, media, .. } if call == id => Some(media),
        _ => None,
    })
}

fn block(
    session: &Session,
    part: &Part,
    idx: usize,
    new_text: Option<&str>,
    records: &mut Records<'_>,
) -> Option<Block> {
    let is_anthropic = matches!(session.source.format, "anthropic_messages" | "claude_code");
    match &part.body {
        Body::Text(text) => text_block(new_text.unwrap_or(text)),
        Body::Thinking { .. } | Body::Opaque { .. } | Body::Media { .. } if new_text.is_some() => {
            text_block(new_text.unwrap_or_default())
        }
        Body::Thinking { sealed_bytes, .. } => {
            let block = records
                .block(part)
                .filter(|_| is_anthropic && *sealed_bytes > 0)?;
            Some(Block::Thinking(block.clone()))
        }
        Body::ToolDefinition { json, .. } => serde_json::from_str(json).ok().map(Block::Tool),
        Body::ToolCall {
            call,
            tool,
            arguments,
        } => Some(Block::Call {
            call: call.to_string(),
            tool: tool.to_string(),
            arguments: new_text.unwrap_or(arguments).to_owned(),
        }),
        Body::ToolResult {
            call,
            is_error,
            text,
            ..
        } => Some(Block::Result {
            call: call.to_string(),
            is_error: *is_error,
            text: new_text.unwrap_or(text).to_owned(),
            media: Vec::new(),
        }),
        Body::Media { .. } => Some(records.media(session, part, idx)),
        Body::Opaque { json, .. } => {
            let native = serde_json::from_str(json)
                .ok()
                .filter(|v: &Value| is_anthropic && v.get("type").is_some());
            native.map(Block::Native).or_else(|| text_block(json))
        }
    }
}

/// The records of a message, parsed when they are asked for.
struct Records<'a> {
    session: &'a Session,
    message: &'a Message,
    parsed: HashMap<u32, Value>,
}

impl<'a> Records<'a> {
    fn new(session: &'a Session, message: &'a Message) -> Self {
        Self {
            session,
            message,
            parsed: HashMap::new(),
        }
    }

    fn record(&mut self, part: &Part) -> Option<&Value> {
        let span = self.message.raw.get(part.record as usize)?;
        let parse = || json::parse_lenient(&self.session.raw(span)).unwrap_or_default();
        Some(self.parsed.entry(part.record).or_insert_with(parse))
    }

    /// The content block of the file that a part was read from.
    fn block(&mut self, part: &Part) -> Option<&Value> {
        const CONTENTS: [&[&str]; 5] = [
            &["message", "content"],
            &["payload", "content"],
            &["payload", "output"],
            &["content"],
            &["output"],
        ];
        let idx = part.block as usize;
        let record = self.record(part)?;
        CONTENTS
            .iter()
            .find_map(|path| json::at(record, path)?.as_array()?.get(idx))
    }

    /// An image or the like with its payload, or a text that says that it is missing.
    fn media(&mut self, session: &Session, part: &Part, idx: usize) -> Block {
        // Several may stand in one block (the result of a tool).
        let before = session.parts[self.message.parts.start..idx].iter();
        let is_before = |p: &&Part| p.record == part.record && matches!(p.body, Body::Media { .. });
        let before: Vec<&Part> = before.filter(is_before).collect();
        let nth_in_block = before.iter().filter(|p| p.block == part.block).count();
        let in_block = self
            .block(part)
            .and_then(|block| media::all_in(block).into_iter().nth(nth_in_block));
        let anywhere = || {
            let bodies = before.iter().map(|part| &part.body);
            media::found(self.record(part)?, bodies, &part.body)
        };
        let found = in_block.or_else(anywhere);
        found.map_or_else(|| Block::Text(missing(&part.body)), Block::Media)
    }
}

/// What stands in the place of an image whose payload is not to be found.
fn missing(body: &Body) -> String {
    let Body::Media {
        media,
        mime,
        pixels,
        ..
    } = body
    else {
        return String::new();
    };
    let size = pixels.map_or_else(String::new, |(w, h)| format!(", {w}x{h}"));
    format!("[{}: {mime}{size}, not in the source]", word(*media))
}

/// What stands in the place of media that a format cannot hold.
pub(super) fn word(media: MediaKind) -> &'static str {
    match media {
        MediaKind::Image => "image",
        MediaKind::Audio => "audio",
        MediaKind::Document => "document",
    }
}

impl Media {
    /// What stands in its place where a format cannot hold it.
    pub(in crate::formats) fn left_out(&self) -> String {
        format!("[{}: cannot be written in this format]", word(self.kind))
    }
}

/// Name, description and schema of a tool, whoever defined it.
pub(in crate::formats) fn definition(tool: &Value) -> (String, Option<Value>, Value) {
    let inner = ["function", "custom"]
        .iter()
        .find_map(|key| tool.get(key).filter(|v| v.is_object()))
        .unwrap_or(tool);
    let name = json::str_at(inner, &["name"])
        .or_else(|| json::str_at(tool, &["type"]))
        .unwrap_or_default();
    let schema = ["input_schema", "parameters", "inputSchema"]
        .iter()
        .find_map(|key| inner.get(key));
    let schema = schema.filter(|s| s.is_object()).cloned();
    let empty = || Value::Object(Map::from_iter([("type".to_owned(), Value::from("object"))]));
    (
        name.to_owned(),
        inner.get("description").cloned(),
        schema.unwrap_or_else(empty),
    )
}
