//! A row of the table of formats.

use super::{Input, ParseError, Parsed, Probe, RecordedData, Refused, Resume};
use crate::progress::Progress;
use crate::session::{Managed, Session, Span};

/// Returns the byte ranges of a record that a managed conversation keeps verbatim.
pub type Kept = fn(&[u8]) -> Vec<Span>;

/// Position of tool results that the provider of a format requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPosition {
    /// In the tool messages directly after the call's message.
    NextToolMessages,
    /// At the start of the message after the call's message.
    NextMessage,
    /// Before the next answer, since the program assembles requests itself.
    BeforeNextAnswer,
    /// Anywhere.
    Anywhere,
}

/// A session file format.
#[derive(Debug)]
pub struct Format {
    /// Name on the command line, in JSON, and of its folder in `tests/fixtures`.
    pub name: &'static str,
    /// Display name.
    pub label: &'static str,
    /// Returns the evidence if a file has this format. Uses the content, never the file name.
    pub detect: fn(&Probe) -> Option<String>,
    /// The format reads files in pieces, so that a large one is not decompressed as a whole, or requests the whole
    /// itself.
    pub in_pieces: bool,
    /// Reads the file.
    pub parse: fn(&Input, &Progress) -> Result<Parsed, ParseError>,
    /// Writes a managed conversation, if the format can be written.
    pub export: Option<Export>,
    /// Data that its files can record besides messages. Data that they cannot record is unknown, never zero.
    pub recorded: &'static [RecordedData],
    /// Returns the text of a record that a managed conversation keeps verbatim (default: all of it).
    pub kept: Option<Kept>,
    /// Integration with a program that can resume such a session.
    pub resume: Option<Resume>,
    /// Extension of new files; `None` if the format has several layouts, of which a file keeps that of its source.
    pub extension: Option<&'static str>,
    /// Position of tool results that the format's provider requires (default: before the next answer).
    pub result_position: ResultPosition,
}

/// Writes a managed conversation.
pub type Export = fn(&Session, &Managed) -> Result<Vec<u8>, CannotExport>;

/// Reason why a conversation cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CannotExport {
    /// The reason, a sentence without a final period.
    pub reason: String,
}

impl Format {
    /// Returns an error unless a session was read in this format.
    pub(super) fn require_source(&self, session: &Session) -> Result<(), CannotExport> {
        if session.source.format == self.name {
            return Ok(());
        }
        let reason = format!("not supported: converting another format to {}", self.label);
        Err(CannotExport { reason })
    }

    /// Defaults for the rows of formats: a format that is only read, from the whole file, and records nothing besides
    /// messages. Every row sets `name`, `label`, `detect` and `parse`.
    pub(super) const READ_ONLY: Self = Self {
        name: "",
        label: "",
        detect: |_| None,
        in_pieces: false,
        parse: |_, _| {
            let looks_like = "this format has no reader".to_owned();
            Err(Refused { looks_like }.into())
        },
        export: None,
        recorded: &[],
        kept: None,
        resume: None,
        extension: None,
        result_position: ResultPosition::BeforeNextAnswer,
    };
}
