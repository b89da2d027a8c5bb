//! State of the parts of a message, and the texts in the place of removed parts.

use std::sync::Arc;

/// State of the parts of a message. Most changed messages have one part.
#[derive(Clone, Debug, PartialEq)]
pub enum PartStatuses {
    /// State of the only part.
    One(PartStatus),
    /// State of each part.
    Many(Box<[PartStatus]>),
}

/// State of one part.
#[derive(Clone, Debug, PartialEq)]
pub enum PartStatus {
    /// Unchanged.
    Kept,
    /// Its content was removed and a marker takes its place; the pair of call and result is intact.
    Cleared {
        /// Index of its marker in [`Context::markers`](super::Context::markers).
        marker: u32,
    },
    /// Removed with another part (an image inside a cleared tool result).
    Removed {
        /// Index of the event that removed it.
        event: u32,
    },
}

/// The text that one clearing puts in the place of every content that it removes.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Its text.
    pub text: Arc<str>,
    /// True tokens.
    pub tokens: u32,
    /// Tokens on the policy's own meter.
    pub metered: u32,
    /// Index of the event that cleared.
    pub event: u32,
    /// Share of the part's own content that remains.
    pub left: Left,
    /// Whether it holds a stand-in, which cannot be exported.
    pub is_predicted: bool,
}

/// Share of a part's own content that the replacing text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// None: a marker or a pointer takes its place.
    Nothing,
    /// None here: a pointer names a later part of the context with the same content.
    Elsewhere,
    /// Part of it: the content was shortened.
    Some,
    /// All of it, with additions.
    All,
}

impl PartStatuses {
    /// Returns the state of `n_parts` unchanged parts.
    #[inline]
    pub(crate) fn kept(n_parts: usize) -> Self {
        match n_parts {
            1 => Self::One(PartStatus::Kept),
            n => Self::Many(vec![PartStatus::Kept; n].into_boxed_slice()),
        }
    }

    /// Returns one state per part, in order.
    pub fn as_slice(&self) -> &[PartStatus] {
        match self {
            Self::One(status) => std::slice::from_ref(status),
            Self::Many(statuses) => statuses,
        }
    }

    /// Returns one mutable state per part, in order.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [PartStatus] {
        match self {
            Self::One(status) => std::slice::from_mut(status),
            Self::Many(statuses) => statuses,
        }
    }
}

impl PartStatus {
    /// Returns whether any of the part's own content remains, here or elsewhere; `markers` are those of its context.
    pub(crate) fn has_content(&self, markers: &[Marker]) -> bool {
        match self {
            Self::Kept => true,
            Self::Cleared { marker } => markers[*marker as usize].left != Left::Nothing,
            Self::Removed { .. } => false,
        }
    }

    /// Returns the true tokens of the part now, given those untouched; `markers` are those of its context.
    pub(crate) fn tokens(&self, untouched: u32, markers: &[Marker]) -> u32 {
        match self {
            Self::Kept => untouched,
            Self::Cleared { marker } => markers[*marker as usize].tokens,
            Self::Removed { .. } => 0,
        }
    }

    /// Returns the tokens of the part on the policy's own meter now, given those untouched.
    pub(crate) fn metered(&self, untouched: u32, markers: &[Marker]) -> u32 {
        match self {
            Self::Cleared { marker } => markers[*marker as usize].metered,
            other => other.tokens(untouched, markers),
        }
    }
}
