//! A conversation to write out: what was kept of a session and what was written in place of the rest.
//!
//! Only [`crate::engine`] makes one that changes anything, from a context in which nothing is predicted;
//! [`crate::formats`] writes it.

use super::{RecordedCompaction, Role, Session, Track};
use crate::units::Tokens;

/// How the true tokens of a session were told from counted ones. A managed copy carries it where its format can, for
/// the usage that it was fitted to belongs to contexts that the copy no longer holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Name of the counter it was fitted for.
    pub counter: String,
    /// Tokens of what the file does not hold.
    pub overhead: f64,
    /// True tokens per counted token.
    pub factor: f64,
    /// Mean absolute error of the fit, as a share.
    pub error: f64,
}

/// The managed conversation, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Managed {
    /// How its weight was told, where usage was reported.
    pub calibration: Option<Calibration>,
    /// What it weighs, for a format that writes down the size of a context.
    pub tokens: Option<Tokens>,
    /// One entry a message as the model would see it.
    pub entries: Vec<ManagedEntry>,
}

impl Managed {
    /// Everything that the file says is there, untouched and in order, so that it is the file itself: what a compaction
    /// of its own wrote is among the messages, or there was none.
    pub fn is_everything(&self, session: &Session) -> bool {
        let is_kept = |(idx, entry): (usize, &ManagedEntry)| matches!(entry, ManagedEntry::Kept { message } if *message == idx);
        let has_written = || session.messages.iter().any(|m| !m.in_history);
        // What was before the file's first message is not in the file.
        let took_nothing = |c: &RecordedCompaction| c.kept.len() == c.before_message;
        // A sub-agent's records are no more than a part of the file.
        session.track == Track::Main
            && self.entries.len() == session.messages.len()
            && self.entries.iter().enumerate().all(is_kept)
            && (session.compactions.iter().all(took_nothing) || has_written())
    }

    /// Nothing is said in it.
    pub fn is_empty(&self, session: &Session) -> bool {
        self.entries.iter().all(|entry| match entry {
            ManagedEntry::Kept { message } => session.messages[*message].parts.is_empty(),
            ManagedEntry::Edited { parts, .. } => parts.is_empty(),
            ManagedEntry::Written { text, .. } => text.is_empty(),
        })
    }
}

/// One message to write.
#[derive(Clone, Debug, PartialEq)]
pub enum ManagedEntry {
    /// A message of the session, untouched: its original bytes are written.
    Kept {
        /// Index in [`super::Session::messages`].
        message: usize,
    },
    /// A message of the session of which some parts changed.
    Edited {
        /// Index in [`super::Session::messages`].
        message: usize,
        /// What becomes of its parts, in order; a part that is not listed is left out.
        parts: Vec<ManagedPart>,
    },
    /// A message of ours.
    Written {
        /// Who it speaks as.
        role: Role,
        /// Its text.
        text: String,
        /// What it is.
        kind: WrittenKind,
        /// The messages it stands for lie before this index of [`super::Session::messages`].
        before_message: usize,
    },
}

/// What becomes of one part.
#[derive(Clone, Debug, PartialEq)]
pub enum ManagedPart {
    /// It stays.
    Kept {
        /// Index in [`super::Session::parts`].
        part: usize,
    },
    /// Its text is replaced; what joins it to its pair stays.
    Replaced {
        /// Index in [`super::Session::parts`].
        part: usize,
        /// What stands there now.
        text: String,
    },
}

/// What a message of ours is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrittenKind {
    /// A summary of what it stands for.
    Summary,
    /// A notice that something was left out.
    Notice,
}
