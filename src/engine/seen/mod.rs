//! What each call saw of the session, as changes from call to call: messages that went, came back or were shortened, and
//! the texts that a policy put in their place.
//!
//! Mostly a call sees what the one before saw and what was said since; that is not written down. A context knows from
//! which entry on it is not what the last call saw ([`super::prefix`]), so only what stands behind that is compared, and
//! views for one call cost what they change. It is exact but for one thing: an edit that weighs what the one before
//! weighed is taken for the same, as it is for the cache.

mod texts;
mod watch;

pub(super) use watch::Watch;

use std::ops::Range;
use std::sync::Arc;

/// What the calls of a run saw. Before the first change that names it a message of the history is seen whole, from the
/// first call after it was said; a message that is no history is not seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Changes of messages, by step.
    pub changes: Vec<SeenChange>,
    /// Texts of the policy's own.
    pub texts: Vec<SeenText>,
    /// When these came and went, by step.
    pub text_changes: Vec<TextChange>,
    /// Parts of messages that are seen in part, by the place that [`Sight::Partly`] names.
    pub parts: Vec<PartSight>,
}

/// Messages that a call sees otherwise than the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenChange {
    /// Index of the step whose call is the first that sees them so.
    pub step: u32,
    /// Indices of the messages.
    pub messages: Range<u32>,
    /// What it sees of each.
    pub now: Sight,
}

/// What a call sees of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// All of it.
    Whole,
    /// Nothing.
    Gone,
    /// Some of its parts; theirs stand in [`Seen::parts`] from this place on.
    Partly(u32),
}

/// What a call sees of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartSight {
    /// All of it.
    Kept,
    /// Nothing.
    Gone,
    /// A text in its place, by its index in [`Seen::texts`].
    Text(u32),
}

/// A text that a policy put into the context.
#[derive(Clone, Debug)]
pub struct SeenText {
    /// What it says.
    pub text: Arc<str>,
    /// What it is.
    pub kind: SeenKind,
    /// It stands in for a text that nobody knows yet.
    pub is_predicted: bool,
    /// True tokens.
    pub tokens: u32,
}

/// What a text of a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenKind {
    /// A summary.
    Summary,
    /// Another message.
    Notice,
    /// It stands in the place of a part, of which nothing is left.
    Marker,
    /// What is left of a part.
    Remainder,
}

/// A text that came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// Index of the step whose call is the first that sees it so.
    pub step: u32,
    /// Index of the text. Remainders are not among these: they come and go with their messages.
    pub text: u32,
    /// Whether it is there now.
    pub is_there: bool,
}

impl Seen {
    /// What is seen of so many parts, from the place that [`Sight::Partly`] names.
    pub fn parts_from(&self, first: u32, n_parts: usize) -> &[PartSight] {
        &self.parts[first as usize..first as usize + n_parts]
    }
}
