//! Insertion of the summary of dropped turns before the first user text that was kept.
//!
//! Since 2026-04-13, after the document. The summary takes effect only when the model has finished it.

use super::block::{is, set_text, text_of};
use crate::chat::{ChatMessage, Content};
use crate::languages::python::strip;
use std::sync::Arc;

/// The text before which a summary will be inserted.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Index of the message in the conversation as it was before the trim.
    pub message: usize,
    /// Index of the block in it.
    pub block: usize,
    /// The text at that time; changes until the summary arrives are lost.
    pub original: Arc<str>,
    /// Number of summarized turns.
    pub n_turns: usize,
}

/// Returns the first text block of a user from a message on. A message that is a plain string has none.
pub fn injection_target(messages: &[ChatMessage], from: usize, n_turns: usize) -> Option<Target> {
    let later = messages.iter().enumerate().skip(from);
    later.filter(|(_, m)| m.is("user")).find_map(|(at, m)| {
        let block = m.blocks().iter().position(|block| is(block, "text"))?;
        Some(Target { message: at, block, original: text_of(&m.blocks()[block]).into(), n_turns })
    })
}

/// Inserts a summary before its target. `dropped` is the number of messages dropped before it in the meantime. Has no
/// effect if the target was dropped too.
pub fn inject(messages: &mut [ChatMessage], dropped: usize, target: &Target, summary: &str) {
    let message = target.message.checked_sub(dropped);
    let message = message.and_then(|at| messages.get_mut(at));
    let Some(Content::Blocks(blocks)) = message.map(|m| &mut m.content) else {
        return;
    };
    if let Some(block) = blocks.get_mut(target.block) {
        set_text(
            block,
            format!(
                "[System: Previous conversation summary — {} turns were compacted]\n\n{}\n\n\
                 The recent conversation continues below.\n\n---\n\n{}",
                target.n_turns,
                strip(summary),
                target.original
            ),
        );
    }
}
