//! Converts a session's messages to the form that an agent's own program would store.
//!
//! In OpenAI's shape, every tool result is a message of its own. In Anthropic's shape, the results of one call are
//! blocks of one user message.

use super::{
    Arguments, Block, BlockBody, Call, Calls, ChatMessage, Content, Fields, Function, Image, Rest,
    Text,
};
use crate::json::{Value, json};
use crate::session::{Body, EmptyContent, MediaKind, Message, Part, Role, Session};
use std::sync::Arc;

/// Layout of an agent's own messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Calls in a separate field, one message per result.
    OpenAi,
    /// Everything is a block; results are in user messages.
    Anthropic,
}

/// Replacement of a part's content.
#[derive(Clone, Debug, PartialEq)]
pub enum Replaced {
    /// The part is unchanged.
    Kept,
    /// The text replaces the content.
    By(Arc<str>),
    /// The part is removed.
    Removed,
}

/// Converts one message of a session. Returns several if the shape separates results from other content. Leaves out
/// tool definitions, which are not messages. `replaced` returns the replacement of each part by its index.
pub fn messages_of(
    session: &Session,
    message: &Message,
    shape: Shape,
    replaced: impl Fn(usize) -> Replaced,
) -> Vec<ChatMessage> {
    let parts: Vec<Piece<'_>> = message
        .parts
        .clone()
        .zip(session.parts_of(message))
        .filter(|(_, part)| !matches!(part.body, Body::ToolDefinition { .. }))
        .filter_map(|(idx, part)| Piece::new(idx, part, replaced(idx)))
        .collect();
    if let ([stand_in], Some(form)) = (&*parts, message.empty)
        && let Some(content) = stand_in.empty_content(form)
    {
        // Every content is a list of blocks in Anthropic's shape.
        let content = match shape {
            Shape::OpenAi => content,
            Shape::Anthropic => Content::Blocks(Vec::new()),
        };
        return vec![ChatMessage::from(Fields {
            stands_for: Some(stand_in.idx),
            ..Fields::new(message.role.name(), content)
        })];
    }
    match (shape, message.role) {
        (Shape::OpenAi, Role::Assistant) => vec![assistant(&parts, message.empty)],
        (Shape::OpenAi, role) => with_results_apart(&parts, role),
        (Shape::Anthropic, role) => {
            let role = if role == Role::Tool { Role::User } else { role };
            let blocks = blocks(&parts);
            let content = match (&*blocks, role) {
                // Instructions are a plain text in this shape.
                ([block], Role::System) if block.as_text().is_some() => parts[0].as_content(),
                _ => Content::Blocks(blocks),
            };
            vec![message_of(role, content)]
        }
    }
    .into_iter()
    .filter(|m| m.parts().next().is_some())
    .collect()
}

/// Appends a message. In Anthropic's shape, joins consecutive user messages that contain only results. A written result
/// also joins a message of results and text: it was written into one.
pub fn push_grouped(messages: &mut Vec<ChatMessage>, message: &ChatMessage, shape: Shape) {
    let is_result = |b: &Block| matches!(b.body, BlockBody::ToolResult { .. });
    let only_results = |m: &ChatMessage| !m.blocks().is_empty() && m.blocks().iter().all(is_result);
    let joins = |last: &ChatMessage| {
        let has_results = || last.written.is_some() && message.blocks().iter().any(is_result);
        only_results(last) && (only_results(message) || has_results())
    };
    match messages.last_mut() {
        Some(last) if shape == Shape::Anthropic && joins(last) => {
            if last.written.is_some() {
                last.written = message.written;
            }
            if let Content::Blocks(blocks) = &mut last.content {
                blocks.extend_from_slice(message.blocks());
            }
        }
        _ => messages.push(message.clone()),
    }
}

/// A part with its current text.
struct Piece<'a> {
    idx: u32,
    body: &'a Body,
    text: Arc<str>,
    is_replaced: bool,
}

impl<'a> Piece<'a> {
    fn new(idx: usize, part: &'a Part, replaced: Replaced) -> Option<Self> {
        let is_replaced = matches!(replaced, Replaced::By(_));
        let text = match replaced {
            Replaced::Kept => part.body.text().into(),
            Replaced::By(text) => text,
            Replaced::Removed => return None,
        };
        Some(Self { idx: idx as u32, body: &part.body, text, is_replaced })
    }

    /// Returns the recorded content for which this part stands, if that has no text.
    fn empty_content(&self, form: EmptyContent) -> Option<Content> {
        let is_stand_in = matches!(self.body, Body::Text(text) if text.is_empty());
        (is_stand_in && !self.is_replaced && form != EmptyContent::Text).then(|| content_of(form))
    }

    fn as_text(&self) -> Text {
        Text { text: Arc::clone(&self.text), part: Some(self.idx) }
    }

    fn as_content(&self) -> Content {
        Content::Text(self.as_text())
    }

    fn block(&self, body: BlockBody) -> Block {
        Block { part: Some(self.idx), body }
    }

    fn is_in(&self, call: &str) -> bool {
        matches!(self.body, Body::Media { within: Some(within), .. } if **within == *call)
    }
}

fn message_of(role: Role, content: Content) -> ChatMessage {
    ChatMessage::from(Fields::new(role.name(), content))
}

fn content_of(form: EmptyContent) -> Content {
    match form {
        EmptyContent::Missing => Content::Missing,
        EmptyContent::Null => Content::Null,
        EmptyContent::Text => Content::text(""),
        EmptyContent::List => Content::Blocks(Vec::new()),
    }
}

/// `empty` is the form of a content without text.
fn assistant(parts: &[Piece<'_>], empty: Option<EmptyContent>) -> ChatMessage {
    let mut message = message_of(Role::Assistant, Content::Missing);
    let mut others = Vec::new();
    let is_call = |piece: &&Piece<'_>| matches!(piece.body, Body::ToolCall { .. });
    let mut calls = Vec::with_capacity(parts.iter().filter(is_call).count());
    for piece in parts {
        match piece.body {
            Body::ToolCall { call, tool, .. } => calls.push(Call {
                part: Some(piece.idx),
                id: Some((&**call).into()),
                function: Some(Function {
                    name: (&**tool).into(),
                    arguments: Arguments::Text(Arc::clone(&piece.text)),
                    rest: Rest::default(),
                }),
                rest: Rest::of_function_call(),
            }),
            Body::Thinking { .. } if message.reasoning.is_none() => {
                message.reasoning = Some(piece.as_text());
            }
            _ => others.push(piece),
        }
    }
    if !calls.is_empty() {
        message.calls = Calls::List(calls);
    }
    message.content = match (&*others, empty) {
        ([], Some(form)) => content_of(form),
        _ => content(&others),
    };
    message
}

/// A single text stays a text; anything else becomes a list.
fn content(parts: &[&Piece<'_>]) -> Content {
    match parts {
        [] => Content::Missing,
        [piece] if matches!(piece.body, Body::Text(_)) => piece.as_content(),
        parts => Content::Blocks(parts.iter().map(|piece| plain_block(piece)).collect()),
    }
}

fn with_results_apart(parts: &[Piece<'_>], role: Role) -> Vec<ChatMessage> {
    let mut messages = Vec::new();
    let mut rest: Vec<&Piece<'_>> = Vec::new();
    for piece in parts {
        match piece.body {
            Body::ToolResult { call, tool, .. } => {
                let media = parts.iter().filter(|p| p.is_in(call));
                let pieces: Vec<_> = std::iter::once(piece).chain(media).collect();
                let content = match &*pieces {
                    [result] => result.as_content(),
                    pieces => Content::Blocks(pieces.iter().map(|p| plain_block(p)).collect()),
                };
                messages.push(ChatMessage::from(Fields {
                    call_id: Some((&**call).into()),
                    name: (!tool.is_empty()).then(|| (&**tool).into()),
                    ..Fields::new(Role::Tool.name(), content)
                }));
            }
            Body::Media { within: Some(call), .. }
                if parts
                    .iter()
                    .any(|p| matches!(p.body, Body::ToolResult { call: of, .. } if of == call)) => {
            }
            _ => rest.push(piece),
        }
    }
    if !rest.is_empty() {
        messages.push(message_of(role, content(&rest)));
    }
    messages
}

/// Creates a block of OpenAI's kinds. The text of a result, and in place of media, becomes a text block.
fn plain_block(piece: &Piece<'_>) -> Block {
    piece.block(match piece.body {
        Body::Media { media, pixels, .. } if !piece.is_replaced => {
            media_body(*media, *pixels, "image_url")
        }
        Body::Opaque { .. } => BlockBody::Other(verbatim(&piece.text)),
        _ => BlockBody::Text(Arc::clone(&piece.text)),
    })
}

fn blocks(parts: &[Piece<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for piece in parts {
        let body = match piece.body {
            Body::ToolCall { call, tool, .. } => BlockBody::ToolUse {
                id: (&**call).into(),
                name: (&**tool).into(),
                input: verbatim(&piece.text),
            },
            Body::ToolResult { call, is_error, .. } => {
                let media: Vec<_> = parts.iter().filter(|p| p.is_in(call)).collect();
                let content = if media.is_empty() {
                    piece.as_content()
                } else {
                    let pieces = std::iter::once(&piece).chain(&media);
                    Content::Blocks(pieces.map(|p| anthropic_block(p)).collect())
                };
                BlockBody::ToolResult {
                    id: (&**call).into(),
                    content: Box::new(content),
                    is_error: is_error.then_some(true),
                }
            }
            Body::Media { within: Some(call), .. }
                if parts
                    .iter()
                    .any(|p| matches!(p.body, Body::ToolResult { call: of, .. } if of == call)) =>
            {
                continue;
            }
            _ => {
                blocks.push(anthropic_block(piece));
                continue;
            }
        };
        blocks.push(piece.block(body));
    }
    blocks
}

fn anthropic_block(piece: &Piece<'_>) -> Block {
    piece.block(match piece.body {
        Body::Media { media, pixels, .. } if !piece.is_replaced => {
            media_body(*media, *pixels, "image")
        }
        Body::Thinking { .. } => {
            BlockBody::Thinking(json!({"type": "thinking", "thinking": &*piece.text}))
        }
        Body::Opaque { .. } => BlockBody::Other(verbatim(&piece.text)),
        _ => BlockBody::Text(Arc::clone(&piece.text)),
    })
}

fn media_body(media: MediaKind, pixels: Option<(u32, u32)>, image: &str) -> BlockBody {
    match media {
        MediaKind::Image => {
            BlockBody::Image(Image { json: Arc::new(json!({"type": image})), pixels })
        }
        MediaKind::Audio => BlockBody::Other(json!({"type": "input_audio"})),
        MediaKind::Document => BlockBody::Other(json!({"type": "document"})),
    }
}

/// Parses JSON, or returns the text itself as a string.
fn verbatim(text: &str) -> Value {
    crate::json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
