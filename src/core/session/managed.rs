//! A managed conversation to write: the kept messages of a session and the added ones.
//!
//! Only [`crate::engine`] creates one with changes, from a context without predictions. [`crate::formats`] writes it.

use super::{RecordedCompaction, Role, Session, Track};
use crate::units::Tokens;

/// The calibration of a session's token counts. A managed conversation stores it if its format allows, because the
/// usage that it was fitted to belongs to contexts that the new file no longer contains.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Name of the counter that was calibrated.
    pub counter: String,
    /// Tokens of content that is not recorded.
    pub overhead: f64,
    /// Actual tokens per counted token.
    pub factor: f64,
    /// Mean absolute error of the fit, as a share.
    pub error: f64,
}

/// A managed conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Managed {
    /// Calibration, if usage was reported.
    pub calibration: Option<Calibration>,
    /// Tokens, for formats that record the size of a context.
    pub tokens: Option<Tokens>,
    /// Messages in the order of the context.
    pub entries: Vec<ManagedEntry>,
}

impl Managed {
    /// Returns whether everything in the file is kept unchanged and in order, so that the conversation is the file
    /// itself. If the file records compactions, their summaries must be among the messages.
    pub fn is_everything(&self, session: &Session) -> bool {
        let is_kept = |(idx, entry): (usize, &ManagedEntry)| matches!(entry, ManagedEntry::Kept { message } if *message == idx);
        let has_written = || session.messages.iter().any(|m| !m.in_history);
        // Content before the first message of the file is not recorded.
        let kept_everything = |c: &RecordedCompaction| c.kept.len() == c.before_message;
        // The records of a sub-agent are only a part of the file.
        session.track == Track::Main
            && self.entries.len() == session.messages.len()
            && self.entries.iter().enumerate().all(is_kept)
            && (session.compactions.iter().all(kept_everything) || has_written())
    }

    /// Returns whether the conversation has no content.
    pub fn is_empty(&self, session: &Session) -> bool {
        self.entries.iter().all(|entry| match entry {
            ManagedEntry::Kept { message } => session.messages[*message].parts.is_empty(),
            ManagedEntry::Edited { parts, .. } => parts.is_empty(),
            ManagedEntry::Written { text, .. } => text.is_empty(),
        })
    }
}

/// A message to write.
#[derive(Clone, Debug, PartialEq)]
pub enum ManagedEntry {
    /// An unchanged message of the session, written byte for byte.
    Kept {
        /// Index in [`super::Session::messages`].
        message: usize,
    },
    /// A message of the session with changed parts.
    Edited {
        /// Index in [`super::Session::messages`].
        message: usize,
        /// Its remaining parts, in order. A part that is not listed is removed.
        parts: Vec<ManagedPart>,
    },
    /// A message that Plimsoll adds.
    Written {
        /// Role of the sender.
        role: Role,
        /// Text of the message.
        text: String,
        /// Kind of message.
        kind: WrittenKind,
        /// Whether it is the text of the answer behind it. Formats that cannot add one to an answer write a message.
        joins_next: bool,
        /// Id of the call that it answers, if it is a result that was not recorded. Formats that cannot add a result leave
        /// it out.
        answers: Option<String>,
        /// The messages it replaces are before this index of [`super::Session::messages`].
        before_message: usize,
    },
}

/// A remaining part.
#[derive(Clone, Debug, PartialEq)]
pub enum ManagedPart {
    /// The part is unchanged.
    Kept {
        /// Index in [`super::Session::parts`].
        part: usize,
    },
    /// The text of the part is replaced. Its id, which joins a call and its result, stays.
    Replaced {
        /// Index in [`super::Session::parts`].
        part: usize,
        /// The new text.
        text: String,
    },
}

/// Kind of an added message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrittenKind {
    /// A summary of removed messages.
    Summary,
    /// A notice that something was removed.
    Notice,
    /// A text that is added to the message before it as a separate part. Formats without parts write a message.
    Addition,
}
