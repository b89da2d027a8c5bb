//! A format-independent form of a managed conversation, for exporting a session to another format.
//!
//! Images include their payload again. Texts of white space only are left out because providers reject them. [`order`]
//! determines the order of the messages.

use super::media::{self, Media};
use super::order;
use crate::formats::json;
use crate::session::{
    Body, Managed, ManagedEntry, ManagedPart, MediaKind, Message, Part, Role, Session,
};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write as _;

/// A message in a format-independent form.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats) struct PlainMessage {
    /// Role of the sender.
    pub(in crate::formats) role: Role,
    /// Content blocks.
    pub(in crate::formats) blocks: Vec<Block>,
}

/// A content block.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats) enum Block {
    /// Text that is not only white space.
    Text(String),
    /// A thought with its signature, as Anthropic writes it. Thoughts of other providers cannot be resent.
    Thinking(Value),
    /// A block that only Anthropic supports.
    Native(Value),
    /// A tool definition in any provider's form.
    Tool(Value),
    /// A tool call.
    Call {
        /// Unique id.
        call: String,
        /// Tool name.
        tool: String,
        /// Arguments as the model wrote them.
        arguments: String,
    },
    /// The result of a tool call.
    Result {
        /// Id of the call.
        call: String,
        /// Whether the tool failed.
        is_error: bool,
        /// Text, possibly empty.
        text: String,
        /// Images and other media.
        media: Vec<Self>,
    },
    /// An image, audio or document.
    Media(Media),
}

/// Converts the managed conversation.
pub(in crate::formats) fn plain_messages(
    session: &Session,
    managed: &Managed,
) -> Vec<PlainMessage> {
    let mut messages = Vec::with_capacity(managed.entries.len());
    for entry in &managed.entries {
        match entry {
            ManagedEntry::Written { role, text, .. } => {
                messages.push(PlainMessage {
                    role: *role,
                    blocks: text_block(text).into_iter().collect(),
                });
            }
            ManagedEntry::Kept { message } => {
                if let Some(message) = session.messages.get(*message) {
                    let parts = message.parts.clone().map(|part| ManagedPart::Kept { part });
                    push_message(session, message, &parts.collect::<Vec<_>>(), &mut messages);
                }
            }
            ManagedEntry::Edited { message, parts } => {
                if let Some(message) = session.messages.get(*message) {
                    push_message(session, message, parts, &mut messages);
                }
            }
        }
    }
    order::ordered(messages)
}

/// Serializes a request document: its members in order, then the messages, one per line.
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

/// Serialized messages of a document, one per line. Kept as text because values need several times the memory.
#[derive(Default)]
pub(in crate::formats) struct Lines(String);

impl Lines {
    /// Adds a message.
    pub(in crate::formats) fn push(&mut self, message: &Value) {
        let gap = if self.0.is_empty() { "" } else { ",\n" };
        let _ = write!(self.0, "{gap}    {message}");
    }
}

/// Returns a text block, or `None` if the text is only white space.
pub(super) fn text_block(text: &str) -> Option<Block> {
    (!text.trim().is_empty()).then(|| Block::Text(text.to_owned()))
}

/// Adds a message. Media that an assistant message cannot contain follow as a user message.
fn push_message(
    session: &Session,
    message: &Message,
    parts: &[ManagedPart],
    messages: &mut Vec<PlainMessage>,
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
    let is_unsupported =
        |b: &Block| message.role == Role::Assistant && matches!(b, Block::Media(_));
    let (media, supported): (Vec<_>, Vec<_>) = blocks.into_iter().partition(is_unsupported);
    messages.push(PlainMessage {
        role: message.role,
        blocks: supported,
    });
    if !media.is_empty() {
        messages.push(PlainMessage {
            role: Role::User,
            blocks: media,
        });
    }
}

/// Returns the media of a call's result among the blocks.
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

/// The records of a message, parsed on demand.
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

    /// Returns the content block of the file that a part was read from.
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

    /// Returns media with its payload, or a placeholder if it is missing.
    fn media(&mut self, session: &Session, part: &Part, idx: usize) -> Block {
        // One block (a tool result) may contain several.
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

/// Returns the text that replaces media without a payload.
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
    format!("[{}: {mime}{size}, not recorded]", word(*media))
}

/// Returns the word for a kind of media in such texts.
pub(super) fn word(media: MediaKind) -> &'static str {
    match media {
        MediaKind::Image => "image",
        MediaKind::Audio => "audio",
        MediaKind::Document => "document",
    }
}

impl Media {
    /// Returns the text that replaces media that a format does not support.
    pub(in crate::formats) fn placeholder(&self) -> String {
        format!("[{}: cannot be written in this format]", word(self.kind))
    }
}

/// Returns the name, description and schema of a tool definition in any provider's form.
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
