//! The properties of a session file format.

use super::{
    CannotExport, Database, FolderFile, Input, ParseError, Parsed, Probe, RecordIds, RecordedData,
    Refused, Resume, SessionIdentity,
};
use crate::progress::Progress;
use crate::session::{Managed, ModelVendor, Session, Span};

/// A session file format. The rest of the program knows a format only by these properties.
#[derive(Debug)]
pub struct Format {
    /// Name on the command line, in JSON, and of its folder in `tests/fixtures`.
    pub name: &'static str,
    /// Display name.
    pub label: &'static str,
    /// Returns the evidence that a file has this format; `None` if it has not. Uses the content, never the file name.
    pub detect: fn(&Probe) -> Option<String>,
    /// Whether `parse` decompresses a large file itself, usually piece by piece. Otherwise the whole file is
    /// decompressed first.
    pub reads_in_pieces: bool,
    /// Combines the files of a session folder into a document of this format, if the program stores sessions in
    /// folders. Returns `None` for other files.
    pub(super) combine_files: Option<CombineFiles>,
    /// Combines the files of an archive into a document of this format, if the program stores sessions in archives.
    /// Returns `None` for other files.
    pub(super) combine_archive: Option<CombineFiles>,
    /// Reads the file.
    pub(super) parse: fn(&Input, &Progress) -> Result<Parsed, ParseError>,
    /// Data that its files can record besides messages. Data that they cannot record is unknown, never zero.
    pub recorded: &'static [RecordedData],
    /// Vendor of the models of sessions that name none, if only the vendor's API uses this format.
    pub(super) vendor: Option<ModelVendor>,
    /// Whether content blocks have the notation of Anthropic's API, so that thoughts and unknown blocks can be resent
    /// to it.
    pub(super) has_anthropic_blocks: bool,
    /// Position of tool results that the receiver of the messages requires.
    pub result_position: ResultPosition,
    /// Reads the identity of a session from the beginning of its file. For JSON Lines the first line suffices.
    pub(super) identity: Option<ReadIdentity>,
    /// Location of the sessions of sub-agents, if the program stores them in files of their own.
    pub sub_agent_files: Option<SubAgentFiles>,
    /// The program's database, whose sessions become documents of this format.
    pub(super) database: Option<&'static Database>,
    /// Writes a managed conversation into the file that it was read from, if such files can be written.
    pub(super) write_own: Option<WriteSession>,
    /// Writes a session of any other format, if this one can represent all of them.
    pub(super) write_other: Option<fn(&Session, &Managed) -> Vec<u8>>,
    /// Extension of written files (default: that of a JSON source, otherwise `json`).
    pub extension: Option<&'static str>,
    /// Returns the byte ranges of a record that a managed conversation keeps verbatim (default: the whole record).
    pub kept: Option<Kept>,
    /// Ids of records, if the program requires that they are unique.
    pub record_ids: Option<RecordIds>,
    /// Integration with a program that can resume such a session.
    pub resume: Option<Resume>,
}

/// Returns the byte ranges of a record that a managed conversation keeps verbatim.
pub type Kept = fn(&[u8]) -> Vec<Span>;

/// Combines the files of a session folder into a document.
pub(super) type CombineFiles = fn(&[FolderFile]) -> Option<Vec<u8>>;

/// Reads an identity from the beginning of a file, if it has one.
pub(super) type ReadIdentity = fn(&[u8]) -> Option<SessionIdentity>;

/// Writes a managed conversation as a file.
pub(super) type WriteSession = fn(&Session, &Managed) -> Result<Vec<u8>, CannotExport>;

/// Position of the results of a message's tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPosition {
    /// In the tool messages that directly follow the calls.
    NextToolMessages,
    /// At the start of the user message that directly follows the calls.
    StartOfNextMessage,
    /// In any message before the next answer. The program assembles requests itself.
    BeforeNextAnswer,
    /// Anywhere after the call.
    AnywhereAfter,
}

/// Location of the sessions of sub-agents that are stored in files of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubAgentFiles {
    /// `SESSION/subagents` next to the session's file; older versions use the folder of that file (Claude Code).
    SessionFolder,
    /// The folder of the session's day or of a later one. The first line names the parent (Codex).
    DayFolders,
    /// `chats/PARENT`, next to the sessions of the project (Gemini CLI).
    ParentFolder,
    /// The folder of the project's sessions, each of which names its parent (`OpenCode`).
    ProjectFolder,
}

impl Format {
    /// Reads a file without detecting its format.
    ///
    /// # Errors
    /// [`ParseError`] if the file has no conversation in this format or `progress` is cancelled.
    pub fn read(&self, input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
        let mut parsed = (self.parse)(input, progress)?;
        for session in &mut parsed.sessions {
            session.default_vendor = self.vendor;
        }
        Ok(parsed)
    }

    /// Returns whether sessions that were read in this format can be written again.
    pub fn is_writable(&self) -> bool {
        self.write_own.is_some()
    }

    /// Returns whether sessions of every format can be written in this one.
    pub fn accepts_any_source(&self) -> bool {
        self.write_other.is_some()
    }

    /// Returns whether a program resumes such files with its own instructions and tool definitions, so that written ones
    /// leave out those of other programs.
    pub fn has_own_instructions(&self, session: &Session) -> bool {
        self.resume.is_some() && self.name != session.source.format
    }

    /// Writes a managed conversation as a file of this format.
    ///
    /// # Errors
    /// [`CannotExport`] if the format cannot be written, or cannot represent the session.
    pub fn write(&self, session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
        let cannot =
            |what: &str| CannotExport { reason: format!("not supported: {what} {}", self.label) };
        if session.source.format == self.name {
            let write = self.write_own.ok_or_else(|| cannot("writing"))?;
            return write(session, managed);
        }
        let write = self.write_other.or(self.resume.as_ref().map(|resume| resume.write));
        let write = write.ok_or_else(|| cannot("converting another format to"))?;
        Ok(write(session, managed))
    }

    /// Defaults for the rows of formats: a format that cannot be written and records only messages. Every row sets
    /// `name`, `label`, `detect` and `parse`.
    pub(super) const READ_ONLY: Self = Self {
        name: "",
        label: "",
        detect: |_| None,
        reads_in_pieces: false,
        combine_files: None,
        combine_archive: None,
        parse: |_, _| {
            let looks_like = "this format has no reader".to_owned();
            Err(Refused { looks_like }.into())
        },
        recorded: &[],
        vendor: None,
        has_anthropic_blocks: false,
        result_position: ResultPosition::BeforeNextAnswer,
        identity: None,
        sub_agent_files: None,
        database: None,
        write_own: None,
        write_other: None,
        extension: None,
        kept: None,
        record_ids: None,
        resume: None,
    };
}
