//! `SlidingWindowConversationManager.reduce_context`.

use super::stored_messages::{Pins, StoredMessage, has_calls, has_results};
use crate::chat::{Block, BlockBody, ChatMessage, Content};
use crate::languages::python::{first_chars, last_chars};
use std::ops::Range;

/// Characters that a shortened result keeps at each end.
// As in strands-agents 1.62.0, `_PRESERVE_CHARS` (`agent/conversation_manager/sliding_window_conversation_manager.py`).
const PRESERVED: usize = 200;
const MARKER: &str = "... [truncated:";
/// The error that ends a turn.
pub(super) const UNABLE: &str = "Unable to trim conversation context!";

/// The result of a reduction.
pub(super) enum Reduced {
    /// The message at this index has shorter results.
    Shortened(usize, Vec<ChatMessage>),
    /// Messages that are removed, by index.
    Removed(Vec<usize>),
    /// There is nothing to remove.
    Nothing,
}

/// Reduces the conversation. Results are only shortened after a rejection, with `shortens`.
pub(super) fn reduce(
    stored: &[StoredMessage<'_>],
    pins: &Pins,
    window: usize,
    shortens: bool,
) -> Reduced {
    let n = stored.len();
    let unpinned = |range: Range<usize>| range.filter(|at| !pins.contain(stored, *at)).collect();
    if window == 0 {
        return Reduced::Removed(unpinned(0..n));
    }
    if shortens {
        let mut oldest = (0..n).filter(|at| has_results(stored[*at]) && !pins.contain(stored, *at));
        if let Some(at) = oldest.next()
            && let Some(shortened) = shortened(stored[at])
        {
            return Reduced::Shortened(at, shortened);
        }
    }
    let start = if n <= window { 2 } else { n - window };
    let is_user = |at: &usize| stored[*at][0].is("user");
    let is_pair = |at: &usize| {
        has_calls(stored[*at]) && stored.get(at + 1).is_some_and(|next| has_results(next))
    };
    let first_kept = (start..n).find(is_user).or_else(|| (start..n).find(is_pair));
    let removed: Vec<usize> = first_kept.map_or_else(Vec::new, |kept| unpinned(0..kept));
    if removed.is_empty() { Reduced::Nothing } else { Reduced::Removed(removed) }
}

/// Returns a message with shortened results; `None` if there is nothing to shorten.
fn shortened(message: StoredMessage<'_>) -> Option<Vec<ChatMessage>> {
    let after: Vec<ChatMessage> = message.iter().map(shortened_result).collect();
    (after != message).then_some(after)
}

fn shortened_result(result: &ChatMessage) -> ChatMessage {
    match &result.content {
        Content::Text(text) => match shortened_text(&text.text) {
            Some(short) => result.with_text(short),
            None => result.clone(),
        },
        Content::Blocks(blocks) => {
            let mut after = result.clone();
            after.content = Content::Blocks(shortened_blocks(blocks));
            after
        }
        Content::Missing | Content::Null | Content::Other(_) => result.clone(),
    }
}

/// Shortens texts. Images become a note in the first text: their format and size are not recorded.
fn shortened_blocks(blocks: &[Block]) -> Vec<Block> {
    let is_image = |block: &&Block| matches!(block.body, BlockBody::Image(_));
    let n_images = blocks.iter().filter(is_image).count();
    let mut after: Vec<Block> = blocks.iter().filter(|b| !is_image(b)).cloned().collect();
    for block in &mut after {
        if let BlockBody::Text(text) = &mut block.body
            && let Some(short) = shortened_text(text)
        {
            *text = short.into();
        }
    }
    let first = after.iter_mut().find_map(|block| match &mut block.body {
        BlockBody::Text(text) => Some(text),
        _ => None,
    });
    if let (Some(text), 1..) = (first, n_images) {
        let note = "\n[image: unknown, 0 bytes]".repeat(n_images);
        *text = format!("{text}{note}").into();
    }
    after
}

fn shortened_text(text: &str) -> Option<String> {
    let n = text.chars().count();
    if n <= 2 * PRESERVED || text.contains(MARKER) {
        return None;
    }
    let (start, end) = (first_chars(text, PRESERVED), last_chars(text, PRESERVED));
    let removed = n - 2 * PRESERVED;
    Some(format!("{start}...\n\n{MARKER} {removed} chars removed] ...\n\n...{end}"))
}
