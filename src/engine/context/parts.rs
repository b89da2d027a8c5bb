//! What became of the parts of a message, and what stands in the place of those that are gone.

use std::sync::Arc;

/// What became of the parts of a message. Most messages that change have but one.
#[derive(Clone, Debug, PartialEq)]
pub enum PartFates {
    /// Of its only part.
    One(PartFate),
    /// Of each of its parts.
    Many(Box<[PartFate]>),
}

/// What became of one part.
#[derive(Clone, Debug, PartialEq)]
pub enum PartFate {
    /// It stays.
    Kept,
    /// Its content is gone, a marker stands there; the pair of call and result is intact.
    Cleared {
        /// Index of what stands there now in [`Context::markers`](super::Context::markers).
        marker: u32,
    },
    /// It went with another part (an image inside a cleared tool result).
    Removed {
        /// Index of the event that did it.
        event: u32,
    },
}

/// What one clearing puts in the place of every content it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Its text.
    pub text: Arc<str>,
    /// What it weighs (true tokens).
    pub tokens: u32,
    /// What it weighs on the policy's own meter.
    pub metered: u32,
    /// Index of the event that cleared.
    pub event: u32,
    /// How much of the part's own content is still there.
    pub left: Left,
    /// It holds a stand-in rather than a text to export.
    pub is_predicted: bool,
}

/// How much of a part's own content a text in its place still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// Nothing: a marker or a pointer stands there.
    Nothing,
    /// Some: it was shortened.
    Some,
    /// All, with something added.
    All,
}

impl PartFates {
    /// All of so many parts stay.
    #[inline]
    pub(in crate::engine) fn kept(n_parts: usize) -> Self {
        match n_parts {
            1 => Self::One(PartFate::Kept),
            n => Self::Many(vec![PartFate::Kept; n].into_boxed_slice()),
        }
    }

    /// One a part, in order.
    pub fn as_slice(&self) -> &[PartFate] {
        match self {
            Self::One(fate) => std::slice::from_ref(fate),
            Self::Many(fates) => fates,
        }
    }

    /// The same to be changed.
    pub(in crate::engine) fn as_mut_slice(&mut self) -> &mut [PartFate] {
        match self {
            Self::One(fate) => std::slice::from_mut(fate),
            Self::Many(fates) => fates,
        }
    }
}

impl PartFate {
    /// Whether any of the part's own content is there; the markers are those of its context.
    pub(in crate::engine) fn has_content(&self, markers: &[Marker]) -> bool {
        match self {
            Self::Kept => true,
            Self::Cleared { marker } => markers[*marker as usize].left != Left::Nothing,
            Self::Removed { .. } => false,
        }
    }

    /// What the part weighs now, if it weighed this much untouched; the markers are those of its context.
    pub(in crate::engine) fn tokens(&self, untouched: u32, markers: &[Marker]) -> u32 {
        match self {
            Self::Kept => untouched,
            Self::Cleared { marker } => markers[*marker as usize].tokens,
            Self::Removed { .. } => 0,
        }
    }

    /// The same on the policy's own meter.
    pub(in crate::engine) fn metered(&self, untouched: u32, markers: &[Marker]) -> u32 {
        match self {
            Self::Cleared { marker } => markers[*marker as usize].metered,
            other => other.tokens(untouched, markers),
        }
    }
}
