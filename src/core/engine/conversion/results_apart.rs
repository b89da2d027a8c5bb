//! Results that an action wrote into a message with other content: each becomes a message that answers its call.
//!
//! In Anthropic's shape, the results of one answer are blocks of one message. The context has an entry for each written
//! result, since a file may need a record for each.

use crate::chat::{Block, BlockBody, ChatMessage, Content, Fields};
use std::sync::Arc;

/// Returns messages in which every written result is a message of its own.
pub(crate) fn results_apart(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    if !messages.iter().flat_map(ChatMessage::blocks).any(is_written) {
        return messages;
    }
    messages.into_iter().flat_map(apart).collect()
}

/// Returns whether a block is a result without an origin in the session.
fn is_written(block: &Block) -> bool {
    written_result(block).is_some()
}

/// Returns the call and the content of a written result.
fn written_result(block: &Block) -> Option<(&Arc<str>, &Content)> {
    match &block.body {
        BlockBody::ToolResult { id, content, .. } => {
            let is_new = block.part.is_none() && content.first_part().is_none();
            is_new.then_some((id, content))
        }
        _ => None,
    }
}

/// Splits a message before and after each written result.
fn apart(message: ChatMessage) -> Vec<ChatMessage> {
    let pieces = message.blocks().chunk_by(|a, b| !is_written(a) && !is_written(b));
    let piece = |blocks: &[Block]| match blocks.first().and_then(written_result) {
        Some((id, content)) => ChatMessage::from(Fields {
            content: content.clone(),
            call_id: Some(Arc::clone(id)),
            ..ChatMessage::notice("tool", "").into_fields()
        }),
        None => ChatMessage::from(Fields {
            content: Content::Blocks(blocks.to_vec()),
            ..message.clone().into_fields()
        }),
    };
    let pieces: Vec<ChatMessage> = pieces.map(piece).collect();
    if pieces.is_empty() {
        return vec![message];
    }
    pieces
}
