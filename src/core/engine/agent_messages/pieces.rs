//! Splits a message of an agent's store into pieces with a known origin and pieces that a policy wrote.

use crate::chat::{Arguments, BlockBody, ChatMessage, Content};
use crate::json::Value;
use std::sync::Arc;

/// Part indices from here on identify entries that a policy wrote, by id, so that a written message is recognized
/// wherever an action moves it.
pub(crate) const WRITTEN: u32 = 1 << 31;

/// The origin of a piece of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A part of the session.
    Part(u32),
    /// An entry that a policy wrote, by its id.
    Entry(u32),
}

impl Origin {
    pub(crate) fn of(part: u32) -> Self {
        match part.checked_sub(WRITTEN) {
            Some(id) => Self::Entry(id),
            None => Self::Part(part),
        }
    }
}

/// The content of a piece of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PieceContent<'a> {
    /// A text.
    Text(&'a Arc<str>),
    /// Arguments or a block, as JSON.
    Value(&'a Value),
    /// An image or an empty content, which have no text.
    There,
}

impl PieceContent<'_> {
    /// Returns the text that replaces the part's own.
    pub(crate) fn to_text(self) -> Arc<str> {
        match self {
            Self::Text(text) => Arc::clone(text),
            Self::Value(value) => value.to_string().into(),
            Self::There => "".into(),
        }
    }
}

/// A message that an action left, split into pieces.
#[derive(Debug, Default)]
pub(crate) struct Pieces<'a> {
    /// Pieces with a known origin, in order.
    pub(crate) known: Vec<(Origin, PieceContent<'a>)>,
    /// Newly written texts.
    pub(crate) new: Vec<Arc<str>>,
}

/// Passes the origin of each piece of a message to `give`, in the order of [`pieces`].
pub(crate) fn each_origin(message: &ChatMessage, mut give: impl FnMut(Option<Origin>)) {
    let mut origin = |part: Option<u32>| give(part.map(Origin::of));
    if let Some(part) = message.empty_part() {
        origin(Some(part));
    }
    if let Some(reasoning) = &message.reasoning {
        origin(reasoning.part);
    }
    if !is_no_piece(message) {
        each_part(&message.content, None, &mut origin);
    }
    message.calls().iter().for_each(|call| origin(call.part));
}

/// Returns whether the content is an empty text that was recorded with calls or reasoning.
fn is_no_piece(message: &ChatMessage) -> bool {
    message.written.is_none() && message.content.is_empty_text()
}

fn each_part(content: &Content, result: Option<u32>, give: &mut impl FnMut(Option<u32>)) {
    match content {
        Content::Text(text) => give(text.part.or(result)),
        Content::Blocks(blocks) => {
            for block in blocks {
                match &block.body {
                    BlockBody::ToolResult { content, .. } => each_part(content, block.part, give),
                    _ => give(block.part),
                }
            }
        }
        Content::Missing | Content::Null | Content::Other(_) => {}
    }
}

/// Splits a message into pieces.
pub(crate) fn pieces(message: &ChatMessage) -> Pieces<'_> {
    let mut pieces = Pieces::default();
    each_piece(message, |part, content| match part {
        Some(part) => pieces.known.push((Origin::of(part), content)),
        None => pieces.new.push(content.to_text()),
    });
    pieces
}

/// Passes the pieces of a message to `give`, in order.
pub(crate) fn each_piece<'a>(
    message: &'a ChatMessage,
    mut piece: impl FnMut(Option<u32>, PieceContent<'a>),
) {
    if let Some(part) = message.empty_part() {
        piece(Some(part), PieceContent::There);
    }
    if let Some(reasoning) = &message.reasoning {
        piece(reasoning.part, PieceContent::Text(&reasoning.text));
    }
    if !is_no_piece(message) {
        each_of_content(&message.content, None, &mut piece);
    }
    for call in message.calls() {
        let arguments = call.function.as_ref().map(|f| &f.arguments);
        let content = match arguments {
            Some(Arguments::Text(text)) => PieceContent::Text(text),
            Some(Arguments::Json(value)) => PieceContent::Value(value),
            _ => PieceContent::There,
        };
        piece(call.part, content);
    }
}

/// Passes the pieces of a content. `result` is the part of the result that contains it, for texts without an origin.
fn each_of_content<'a>(
    content: &'a Content,
    result: Option<u32>,
    piece: &mut impl FnMut(Option<u32>, PieceContent<'a>),
) {
    match content {
        Content::Text(text) => piece(text.part.or(result), PieceContent::Text(&text.text)),
        Content::Blocks(blocks) => {
            for block in blocks {
                match &block.body {
                    BlockBody::Text(text) => piece(block.part, PieceContent::Text(text)),
                    BlockBody::ToolUse { input, .. } => {
                        piece(block.part, PieceContent::Value(input));
                    }
                    BlockBody::ToolResult { content, .. } => {
                        each_of_content(content, block.part, piece);
                    }
                    BlockBody::Image(_) => piece(block.part, PieceContent::There),
                    BlockBody::Thinking(value) | BlockBody::Other(value) => {
                        piece(block.part, PieceContent::Value(value));
                    }
                }
            }
        }
        Content::Missing | Content::Null | Content::Other(_) => {}
    }
}
