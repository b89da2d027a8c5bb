//! The distinct messages of a sample. Requests refer to them, so that a long conversation is not copied for each call.

use super::attachments::Attachments;
use super::message;
use crate::formats::json;
use crate::json::Value;
use crate::session::{Draft, Span};
use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of references that the requests of a sample make to messages.
// Chosen: 10,000 calls with 5,000 messages each.
const MAX_REFERENCES: usize = 50_000_000;

/// The distinct messages of a sample.
pub(super) struct Pool {
    messages: Vec<(Span, Value)>,
    by_key: HashMap<u64, usize>,
    /// Messages of the list that events refer to, by number.
    listed: Vec<Option<usize>>,
    /// Number of references that may still be made.
    left: usize,
}

impl Pool {
    /// Creates the pool with the messages that events refer to by number.
    pub(super) fn new(bytes: &[u8], listed: &[Span], attachments: &mut Attachments) -> Self {
        let (messages, by_key) = (Vec::new(), HashMap::new());
        let mut pool = Self { messages, by_key, listed: Vec::new(), left: MAX_REFERENCES };
        for span in listed {
            let message = pool.add(bytes, span, attachments);
            pool.listed.push(message);
        }
        pool
    }

    /// Adds the message at a span and returns its index, or that of an equal one.
    pub(super) fn add(
        &mut self,
        bytes: &[u8],
        span: &Span,
        attachments: &mut Attachments,
    ) -> Option<usize> {
        let mut value = json::parse_span(bytes, span)?;
        let key = message::key(&value);
        if let Some(known) = self.by_key.get(&key) {
            return Some(*known);
        }
        attachments.resolve(&mut value);
        let idx = self.messages.len();
        self.by_key.insert(key, idx);
        self.messages.push((span.clone(), value));
        Some(idx)
    }

    /// Returns the messages in a range of the list. Returns `None` if the requests are too long.
    pub(super) fn in_range(
        &mut self,
        range: Range<usize>,
    ) -> Option<impl Iterator<Item = usize> + use<'_>> {
        let end = range.end.min(self.listed.len());
        let range = range.start.min(end)..end;
        self.left = self.left.checked_sub(range.len())?;
        Some(self.listed[range].iter().flatten().copied())
    }

    /// Returns whether a message is an instruction.
    pub(super) fn is_system(&self, message: usize) -> bool {
        json::str_at(&self.messages[message].1, &["role"]) == Some("system")
    }

    /// Reads a message.
    pub(super) fn draft(&self, message: usize) -> Option<Draft> {
        let (span, value) = &self.messages[message];
        message::draft(value, span)
    }
}
