//! The texts of messages with a summary.

use crate::chat::{Block, ChatMessage};
use crate::languages::python::{is_space, strip, strip_end};

/// Text before a summary.
pub(super) const PREFIX: &str = include_str!("prompts/prefix.txt");
/// Text behind a summary.
pub(super) const END: &str =
    "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---";
/// Text before the own text of a message with a summary.
pub(super) const PRIOR: &str = "[PRIOR CONTEXT — for reference only; not a new message]";
/// Text between them.
pub(super) const BELOW: &str = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]";

/// Returns the text of a message; texts of several parts are lines.
pub(super) fn text_of(message: &ChatMessage) -> String {
    let blocks = message.blocks().iter().filter_map(Block::as_text);
    let texts: Vec<&str> = blocks.filter(|text| !text.is_empty()).collect();
    message.text().map_or_else(|| texts.join("\n"), str::to_owned)
}

/// Returns whether a message has a summary.
pub(super) fn is_summary(message: &ChatMessage) -> bool {
    let text = text_of(message);
    let summary = text.split_once(BELOW).map_or(&*text, |(_, summary)| summary);
    summary.trim_start_matches(is_space).starts_with(PREFIX)
}

/// Returns the summary in a text without what is around it.
pub(super) fn without_prefix(text: &str) -> &str {
    let text = strip(text);
    let text = text.split_once(BELOW).map_or(text, |(_, summary)| strip(summary));
    let text = text.strip_prefix(PREFIX).map_or(text, |text| text.trim_start_matches(is_space));
    text.strip_suffix(END).map_or(text, strip_end)
}
