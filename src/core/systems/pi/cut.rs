//! The token estimate, and the position of the cut between summarized and kept messages.

use crate::chat::ChatMessage;
use crate::languages::javascript::length;

/// Characters that an image counts.
// As in pi 0.73.1, `core/compaction/compaction.js`: 1,200 tokens at four characters each.
const IMAGE_CHARS: usize = 4_800;

/// `estimateTokens`: returns the estimated tokens of a message, its characters divided by four, rounded up.
fn estimate(message: &ChatMessage) -> usize {
    let calls = message.calls().iter();
    let calls: usize = calls
        .map(|call| length(call.tool()) + length(&call.arguments_as_value().to_string()))
        .sum();
    let thinking = message.reasoning.as_ref().map_or(0, |r| length(&r.text));
    let blocks = message.blocks().iter();
    let n_images = blocks.filter(|block| block.as_text().is_none()).count();
    let images = if message.is("tool") { n_images * IMAGE_CHARS } else { 0 };
    (length(&message.joined_text("")) + thinking + calls + images).div_ceil(4)
}

/// A cut in a range of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CutPoint {
    /// The first kept message.
    pub(super) first_kept: usize,
    /// The user message that begins the turn, if the cut splits one.
    pub(super) turn_start: Option<usize>,
}

/// `findCutPoint`: returns the cut that keeps about `keep` tokens: the first message that is not a tool result, at or after the one
/// that reaches the limit. If none reaches it, the first message of the range.
pub(super) fn find_cut(messages: &[ChatMessage], keep: usize) -> Option<CutPoint> {
    let is_valid = |idx: &usize| !messages[*idx].is("tool");
    let mut first_kept = (0..messages.len()).find(is_valid)?;
    let mut sum = 0;
    for idx in (0..messages.len()).rev() {
        sum += estimate(&messages[idx]);
        if sum >= keep {
            first_kept = (idx..messages.len()).find(is_valid).unwrap_or(first_kept);
            break;
        }
    }
    let is_user = |idx: &usize| messages[*idx].is("user");
    let turn_start = if is_user(&first_kept) { None } else { (0..first_kept).rev().find(is_user) };
    Some(CutPoint { first_kept, turn_start })
}
