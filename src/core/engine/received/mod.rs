//! The content of the session that each call received, as changes from call to call: messages that were removed,
//! restored or shortened, and the texts of the policy that replace them.
//!
//! A call usually receives the context of the call before plus the new messages; this case is not stored. A context
//! records the first entry that differs from the last call ([`crate::engine::context::prefix`]), so only entries after
//! it are compared, and views for one call cost only their changes. The record is exact with one exception: an edit
//! with the same weight as the one before counts as the same, as it does for the cache.

pub(super) mod recorder;
mod texts;

use crate::session::Session;
use std::ops::Range;
use std::sync::Arc;

/// The content that the calls of a run received. Until its first change, a message of the history is received whole,
/// from the first call after it. A message outside the history is not received.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// Changes of messages, by call.
    pub changes: Vec<ReceivedChange>,
    /// Texts of the policy's own.
    pub texts: Vec<PolicyText>,
    /// Additions and removals of these texts, by call.
    pub text_changes: Vec<TextChange>,
    /// State of parts of partly received messages, from the index that [`Visibility::Partly`] names.
    pub parts: Vec<PartVisibility>,
}

/// Messages that a call receives differently from the call before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedChange {
    /// Index of the first call that receives them so.
    pub call: u32,
    /// Indices of the messages.
    pub messages: Range<u32>,
    /// The received content of each.
    pub now: Visibility,
}

/// The received content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The whole message.
    Whole,
    /// None.
    Gone,
    /// Some of its parts; their state begins at this index of [`Received::parts`].
    Partly(u32),
}

impl Visibility {
    /// Returns the received content of every message before the first change: all of the history.
    pub fn at_start(session: &Session) -> Vec<Self> {
        let first = |in_history| if in_history { Self::Whole } else { Self::Gone };
        session.messages.iter().map(|message| first(message.in_history)).collect()
    }
}

/// The received content of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartVisibility {
    /// The whole part.
    Kept,
    /// None.
    Gone,
    /// A replacing text, by its index in [`Received::texts`].
    Text(u32),
}

/// A text that a policy put into the context.
#[derive(Clone, Debug)]
pub struct PolicyText {
    /// The text.
    pub text: Arc<str>,
    /// Its kind.
    pub kind: TextKind,
    /// Whether it is a stand-in for a text that is not known yet.
    pub is_predicted: bool,
    /// True tokens.
    pub tokens: u32,
    /// Index of the event that added it first.
    pub event: u32,
}

/// The kind of a policy's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// A summary.
    Summary,
    /// Another message.
    Notice,
    /// A replacement for a part of which nothing remains.
    Marker,
    /// The remainder of a part.
    Remainder,
}

/// A text that was added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// Index of the first call that receives the change.
    pub call: u32,
    /// Index of the text. Remainders are excluded: they are added and removed with their messages.
    pub text: u32,
    /// Whether it was added.
    pub is_there: bool,
}

impl Received {
    /// Returns the state of `n_parts` parts, from the index that [`Visibility::Partly`] names.
    pub fn parts_from(&self, first: u32, n_parts: usize) -> &[PartVisibility] {
        &self.parts[first as usize..first as usize + n_parts]
    }
}
