//! The context of one lane at a call, and the rows that align contexts.

use crate::engine::{Context, MessageStatus, Written};
use crate::session::WrittenKind;
use crate::units::Tokens;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One row of the aligned contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A message of the session, by index.
    Message(u32),
    /// A message that a lane wrote in place of others. It may differ between lanes.
    Written(WrittenPosition),
}

impl Row {
    /// Returns the sort key of a row.
    pub(crate) fn order(self) -> (u32, u32) {
        match self {
            Self::Message(message) => (message, u32::MAX),
            Self::Written(position) => (position.before, position.nth),
        }
    }
}

/// Position of a written message: after the messages it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WrittenPosition {
    /// Index of the first message after the replaced ones.
    pub before: u32,
    /// Number of the written message among those at the same place, from 0.
    pub nth: u32,
}

/// A written message in a context.
#[derive(Clone, Copy, Debug)]
pub struct PositionedMessage<'a> {
    /// Its position.
    pub position: WrittenPosition,
    /// The message.
    pub written: &'a Written,
    /// Its tokens in the context.
    pub tokens: Tokens,
}

impl<'a> PositionedMessage<'a> {
    /// Returns the written messages of a context.
    pub fn all(context: &'a Context) -> Vec<Self> {
        let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
        let placed = context.written().map(|(written, tokens)| {
            let before = written.covers.last().map_or(0, |range| range.end);
            let nth = seen.entry(before).or_default();
            let position = WrittenPosition { before, nth: *nth };
            *nth += 1;
            Self { position, written, tokens }
        });
        placed.collect()
    }
}

/// The context of one lane at the call.
#[derive(Clone, Debug, Default)]
pub struct LaneContext {
    /// Messages of the session, by index.
    pub messages: Vec<LaneMessage>,
    /// Messages that the policy wrote.
    pub written: BTreeMap<WrittenPosition, WrittenStatus>,
    /// Actual tokens of the context.
    pub total: Tokens,
    /// Number of messages in the context, including written ones.
    pub n_entries: usize,
}

/// A message in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneMessage {
    /// Status of the message.
    pub status: MessageStatus,
    /// Current tokens in this lane.
    pub tokens: Tokens,
}

/// A message that a policy wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenStatus {
    /// Summary or notice.
    pub kind: WrittenKind,
    /// Tokens.
    pub tokens: Tokens,
    /// Number of replaced messages.
    pub n_covered: usize,
    /// The text is a placeholder of the expected size.
    pub is_predicted: bool,
    /// Its text.
    pub text: Arc<str>,
}

impl LaneContext {
    pub(crate) fn new(context: &Context, n_messages: usize) -> Self {
        let seen = |(status, tokens): (MessageStatus, u32)| LaneMessage {
            status,
            tokens: Tokens::from(tokens),
        };
        let messages = context.statuses(n_messages).into_iter().map(seen).collect();
        let mut lane = Self {
            messages,
            written: BTreeMap::new(),
            total: context.tokens(),
            n_entries: context.entries.len(),
        };
        for message in PositionedMessage::all(context) {
            let status = WrittenStatus::new(message.written, message.tokens);
            lane.written.insert(message.position, status);
        }
        lane
    }
}

impl WrittenStatus {
    fn new(written: &Written, tokens: Tokens) -> Self {
        Self {
            kind: written.kind,
            tokens,
            n_covered: written.covers.iter().map(ExactSizeIterator::len).sum(),
            is_predicted: written.is_predicted,
            text: Arc::clone(&written.text),
        }
    }
}
