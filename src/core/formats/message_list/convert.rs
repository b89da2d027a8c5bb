//! Converts a managed conversation to format-independent messages, for exporting a session to another format.
//!
//! Images include their payload again. Texts of white space only are left out because providers reject them. [`order`]
//! determines the order of the messages.

use super::order;
use super::plain_message::{PlainBlock, PlainMessage, text_block};
use crate::formats::{by_name, content, json};
use crate::json::Value;
use crate::session::{Body, Managed, ManagedEntry, ManagedPart, Message, Part, Role, Session};
use std::collections::HashMap;

/// Converts the managed conversation.
pub(crate) fn plain_messages(session: &Session, managed: &Managed) -> Vec<PlainMessage> {
    let mut messages = Vec::with_capacity(managed.entries.len());
    for entry in &managed.entries {
        match entry {
            ManagedEntry::Written { role, text, answers, .. } => {
                let block = match answers {
                    None => text_block(text),
                    Some(call) => Some(PlainBlock::Result {
                        call: call.clone(),
                        is_error: true,
                        text: text.clone(),
                        media: Vec::new(),
                    }),
                };
                let blocks = block.into_iter().collect();
                messages.push(PlainMessage { role: *role, time: None, blocks });
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

/// Adds a message. Media that an assistant message cannot contain follow as a user message.
fn push_message(
    session: &Session,
    message: &Message,
    parts: &[ManagedPart],
    messages: &mut Vec<PlainMessage>,
) {
    let mut records = Records::new(session, message);
    let mut blocks: Vec<PlainBlock> = Vec::with_capacity(parts.len());
    for managed in parts {
        let (idx, new_text) = match managed {
            ManagedPart::Kept { part } => (*part, None),
            ManagedPart::Replaced { part, text } => (*part, Some(text.as_str())),
        };
        let Some(part) = session.parts.get(idx) else {
            continue;
        };
        let block = block(part, idx, new_text, &mut records);
        let within =
            if let Body::Media { within, .. } = &part.body { within.as_deref() } else { None };
        match (block, within.and_then(|id| result_of(&mut blocks, id))) {
            (Some(block), Some(media)) => media.push(block),
            (block, _) => blocks.extend(block),
        }
    }
    let is_unsupported =
        |b: &PlainBlock| message.role == Role::Assistant && matches!(b, PlainBlock::Media(_));
    let (media, supported): (Vec<_>, Vec<_>) = blocks.into_iter().partition(is_unsupported);
    let time = message.time;
    messages.push(PlainMessage { role: message.role, time, blocks: supported });
    if !media.is_empty() {
        messages.push(PlainMessage { role: Role::User, time, blocks: media });
    }
}

/// Returns the media of a call's result among the blocks.
fn result_of<'a>(blocks: &'a mut [PlainBlock], id: &str) -> Option<&'a mut Vec<PlainBlock>> {
    blocks.iter_mut().rev().find_map(|block| match block {
        PlainBlock::Result { call, media, .. } if call == id => Some(media),
        _ => None,
    })
}

fn block(
    part: &Part,
    idx: usize,
    new_text: Option<&str>,
    records: &mut Records<'_>,
) -> Option<PlainBlock> {
    let is_anthropic = records.has_anthropic_blocks;
    match &part.body {
        Body::Text(text) => text_block(new_text.unwrap_or(text)),
        Body::Thinking { .. } | Body::Opaque { .. } | Body::Media { .. } if new_text.is_some() => {
            text_block(new_text.unwrap_or_default())
        }
        Body::Thinking { sealed_bytes, .. } => {
            let block = records.block(part).filter(|_| is_anthropic && *sealed_bytes > 0)?;
            Some(PlainBlock::Thinking(block.clone()))
        }
        Body::ToolDefinition { json, .. } => crate::json::from_str(json).ok().map(PlainBlock::Tool),
        Body::ToolCall { call, tool, arguments } => Some(PlainBlock::Call {
            call: call.to_string(),
            tool: tool.to_string(),
            arguments: new_text.unwrap_or(arguments).to_owned(),
        }),
        Body::ToolResult { call, is_error, text, .. } => Some(PlainBlock::Result {
            call: call.to_string(),
            is_error: *is_error,
            text: new_text.unwrap_or(text).to_owned(),
            media: Vec::new(),
        }),
        Body::Media { .. } => Some(records.media(part, idx)),
        Body::Opaque { json, .. } => {
            let native = crate::json::from_str(json)
                .ok()
                .filter(|v: &Value| is_anthropic && v.get("type").is_some());
            native.map(PlainBlock::Native).or_else(|| text_block(json))
        }
    }
}

/// The records of a message, parsed on demand.
struct Records<'a> {
    session: &'a Session,
    message: &'a Message,
    has_anthropic_blocks: bool,
    parsed: HashMap<u32, Value>,
}

impl<'a> Records<'a> {
    fn new(session: &'a Session, message: &'a Message) -> Self {
        let format = by_name(session.source.format);
        Self {
            session,
            message,
            has_anthropic_blocks: format.is_some_and(|format| format.has_anthropic_blocks),
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
        CONTENTS.iter().find_map(|path| json::at(record, path)?.as_array()?.get(idx))
    }

    /// Returns media with its payload, or a placeholder if it is missing.
    fn media(&mut self, part: &Part, idx: usize) -> PlainBlock {
        // One block (a tool result) may contain several.
        let before = self.session.parts[self.message.parts.start..idx].iter();
        let is_before = |p: &&Part| p.record == part.record && matches!(p.body, Body::Media { .. });
        let before: Vec<&Part> = before.filter(is_before).collect();
        let nth_in_block = before.iter().filter(|p| p.block == part.block).count();
        let in_block =
            self.block(part).and_then(|block| content::all_in(block).into_iter().nth(nth_in_block));
        let anywhere = || {
            let bodies = before.iter().map(|part| &part.body);
            content::found(self.record(part)?, bodies, &part.body)
        };
        let found = in_block.or_else(anywhere);
        found.map_or_else(|| PlainBlock::Text(missing(&part.body)), PlainBlock::Media)
    }
}

/// Returns the text that replaces media without a payload.
fn missing(body: &Body) -> String {
    let Body::Media { media, mime, pixels, .. } = body else {
        return String::new();
    };
    let size = pixels.map_or_else(String::new, |(w, h)| format!(", {w}x{h}"));
    format!("[{}: {mime}{size}, not recorded]", media.name())
}
