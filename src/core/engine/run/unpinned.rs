//! Pinned messages that a real system removed or changed, and lists of messages in sentences.

use crate::engine::context::taken::ranges;
use crate::engine::outcome::warning::{EditWarning, Warning};
use std::fmt::Write as _;
use std::ops::Range;

/// Maximum number of ranges that a sentence lists; more are only counted. Twelve ranges are a line or two of text.
const MAX_LISTED: usize = 12;

/// Pinned messages that a real system removed or changed.
#[derive(Debug)]
pub(super) struct Unpinned {
    /// Index of the first such call.
    pub(super) call: usize,
    pub(super) stage: String,
    /// The system.
    pub(super) by: &'static str,
    /// Messages of the first time, and all messages.
    pub(super) first: Vec<u32>,
    pub(super) all: Vec<Range<u32>>,
}

impl Unpinned {
    /// Returns the warning.
    pub(super) fn warning(self) -> Warning {
        let now: usize = self.all.iter().map(ExactSizeIterator::len).sum();
        let first = ranges(self.first.iter().copied());
        let more = match now - self.first.len() {
            0 => String::new(),
            n => format!(" ({n} more later)"),
        };
        Warning {
            call: Some(self.call),
            edit: Some(EditWarning::NotApplied),
            text: format!(
                "{}: {} pinned, and {} does not support pins{more}",
                self.stage,
                listed(&first),
                self.by
            ),
        }
    }
}

/// Lists messages by their numbers with the verb: `message 3 is`, `messages 3, 7–9 are`.
pub(super) fn listed(messages: &[Range<u32>]) -> String {
    let n_messages: usize = messages.iter().map(ExactSizeIterator::len).sum();
    if let ([one], 1) = (messages, n_messages) {
        return format!("message {} is", one.start + 1);
    }
    let mut text = "messages ".to_owned();
    for (nth, range) in messages.iter().take(MAX_LISTED).enumerate() {
        let comma = if nth > 0 { ", " } else { "" };
        let _ = match range.len() {
            1 => write!(text, "{comma}{}", range.start + 1),
            _ => write!(text, "{comma}{}\u{2013}{}", range.start + 1, range.end),
        };
    }
    let rest = messages.iter().skip(MAX_LISTED);
    match rest.map(ExactSizeIterator::len).sum::<usize>() {
        0 => {}
        n => {
            let _ = write!(text, " and {n} more");
        }
    }
    text + " are"
}
