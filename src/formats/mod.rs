//! Session file formats: one file and one row of [`FORMATS`] per format.
//!
//! Formats convert bytes to [`Session`]s and read no files. Invalid content never fails a read: an invalid line becomes
//! a [`Warning`] with its number, and everything else is loaded. Only files without any conversation are [`Refused`].

mod accounted;
mod aider;
mod anthropic_messages;
mod any_message;
mod atif;
mod borrowed;
mod claude_code;
mod cline;
mod codex_rollout;
mod content;
mod content_edit;
mod contexts;
mod copilot_chat;
mod copilot_cli;
mod counts;
mod cowagent;
mod cursor;
mod database;
mod folder;
mod gemini_api;
mod gemini_cli;
mod goose;
mod identity;
mod json;
mod jsonl;
mod kimi;
mod langchain;
mod llama_factory;
mod mark;
mod message_list;
mod nesting;
mod notes;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod otel;
mod payload;
mod pi;
mod picoclaw;
mod probe;
mod qwen_code;
mod recorded_data;
mod resume;
mod rows;
mod sharegpt;
mod specstory;
mod swe_agent;
mod tau_bench;
mod time;
mod title;
mod trae_agent;
mod transcript;
mod tree;

pub use claude_code::AgentCalls;
pub use database::{
    Cell, DATABASES, Database, Entry, RowFilter, Rows, Table, TableQuery, database_of,
    supported_databases,
};
pub use folder::{CLINE_HISTORY, FolderFile, combined_document};
pub use identity::{SessionIdentity, SubAgentCalls, identity, identity_of};
pub use payload::media_bytes;
pub use probe::Probe;
pub use recorded_data::{Availability, availability, records_compactions};
pub use resume::{Adopt, NewSession, Resumable, Resume};

use crate::progress::{Cancelled, Progress};
use crate::session::{FileBytes, MAX_KEPT, Managed, Session, Span};
use std::collections::BTreeMap;
use std::fmt;

/// Returns the byte ranges of a record that a managed conversation keeps verbatim.
pub type Kept = fn(&[u8]) -> Vec<Span>;

/// A session file format.
#[derive(Debug)]
pub struct Format {
    /// Name, equal to its file here. Used on the command line and in JSON.
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
}

/// Data that a session file may record besides messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordedData {
    /// Tokens that the provider reported.
    Usage,
    /// Times of messages.
    Times,
    /// Compactions by the program itself.
    Compactions,
    /// The system prompt.
    SystemPrompt,
    /// Tool definitions.
    Tools,
    /// Conversations of sub-agents.
    SubAgents,
}

impl RecordedData {
    /// All kinds of data.
    pub const ALL: &'static [Self] = &[
        Self::Usage,
        Self::Times,
        Self::Compactions,
        Self::SystemPrompt,
        Self::Tools,
        Self::SubAgents,
    ];

    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Times => "timestamps",
            Self::Compactions => "compactions",
            Self::SystemPrompt => "system prompt",
            Self::Tools => "tool definitions",
            Self::SubAgents => "sub-agents",
        }
    }
}

/// Writes a managed conversation.
pub type Export = fn(&Session, &Managed) -> Result<Vec<u8>, CannotExport>;

/// All supported formats, in order of detection.
pub static FORMATS: &[Format] = &[
    qwen_code::FORMAT,
    claude_code::FORMAT,
    codex_rollout::FORMAT,
    gemini_cli::FORMAT,
    pi::FORMAT,
    openhands::SDK,
    openhands::V0,
    copilot_cli::FORMAT,
    copilot_chat::FORMAT,
    opencode::FORMAT,
    goose::FORMAT,
    cowagent::FORMAT,
    cursor::FORMAT,
    picoclaw::FORMAT,
    atif::FORMAT,
    kimi::WIRE,
    kimi::CONTEXT,
    cline::FORMAT,
    swe_agent::FORMAT,
    trae_agent::FORMAT,
    tau_bench::FORMAT,
    sharegpt::FORMAT,
    llama_factory::FORMAT,
    langchain::RUNS,
    langchain::MESSAGES,
    gemini_api::FORMAT,
    anthropic_messages::FORMAT,
    openai_responses::FORMAT,
    openai_chat::FORMAT,
    aider::FORMAT,
    specstory::FORMAT,
    otel::FORMAT,
];

/// A file to read.
#[derive(Clone, Debug)]
pub struct Input {
    /// File name, for titles and messages.
    pub name: String,
    /// The whole file.
    pub bytes: FileBytes,
}

/// Result of reading a file.
#[derive(Debug)]
pub struct Parsed {
    /// The conversations of the file; at least one.
    pub sessions: Vec<Session>,
    /// Invalid or unusual content, in file order.
    pub warnings: Vec<Warning>,
    /// Summary of the records read.
    pub report: ImportReport,
}

/// A part of the file that could not be read as expected. All other parts were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Line number from 1, if the format has lines.
    pub line: Option<usize>,
    /// Description, a sentence without a final period.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// Summary of how a file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Evidence for the detected format.
    pub recognized_by: String,
    /// Records of the file by kind, in the format's own terms.
    pub records: BTreeMap<String, RecordCount>,
    /// Tool calls that started sub-agents, by the sub-agent ids that the main conversation records.
    pub sub_agents: BTreeMap<String, Box<str>>,
    /// Id of the session that started this one, if it is a sub-agent's.
    pub parent: Option<String>,
}

/// Number of records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCount {
    /// Records in the file.
    pub count: usize,
    /// Number of these that are in the context of the main conversation. The others are kept but not counted.
    pub in_context: usize,
}

impl ImportReport {
    /// Counts one record.
    pub fn note(&mut self, kind: &str, in_context: bool) {
        let count = match self.records.get_mut(kind) {
            Some(count) => count,
            None => self.records.entry(kind.to_owned()).or_default(),
        };
        count.count += 1;
        count.in_context += usize::from(in_context);
    }
}

/// A file without a supported conversation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{looks_like}. Supported are {}", prominent())]
pub struct Refused {
    /// Description of the file, a sentence without a final period.
    pub looks_like: String,
}

/// Reason why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The file has no supported conversation.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The caller cancelled the read.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Reason why a conversation cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CannotExport {
    /// The reason, a sentence without a final period.
    pub reason: String,
}

/// Returns the format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name == name)
}

/// Detects the format of a file from its content and reads it.
///
/// # Errors
/// [`Refused`] if the file has no supported conversation.
pub fn parse(input: &Input) -> Result<Parsed, Refused> {
    match parse_with(input, &Progress::default()) {
        Ok(parsed) => Ok(parsed),
        Err(ParseError::Refused(refused)) => Err(refused),
        Err(ParseError::Cancelled(_)) => {
            unreachable!("no other owner of the progress can cancel it")
        }
    }
}

/// Reads a file like [`parse`] and advances `progress` by about the file's size in bytes.
///
/// # Errors
/// [`ParseError`] if the file has no supported conversation or `progress` is cancelled.
pub fn parse_with(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let (format, why) = detect(input, progress)?;
    progress.check_cancelled()?;
    let held = (!format.in_pieces).then(|| input.bytes.whole());
    let mut parsed = (format.parse)(input, progress)?;
    parsed.report.recognized_by = why;
    notes::sum_up(&mut parsed.warnings);
    let unaccounted = accounted::check(input, format, &parsed, progress)?;
    parsed.warnings.extend(unaccounted);
    parsed.warnings.extend(compaction_warning(&parsed.sessions));
    parsed
        .warnings
        .extend(notes::left_out_usage(&parsed.sessions));
    drop(held);
    Ok(parsed)
}

/// Returns the format of a file and the evidence for it.
fn detect(input: &Input, progress: &Progress) -> Result<(&'static Format, String), ParseError> {
    let of = |probe: &Probe| {
        let detected = |format: &'static Format| Some((format, (format.detect)(probe)?));
        FORMATS.iter().find_map(detected)
    };
    let mut probe = Probe::new(&input.bytes, probe::FEW_RECORDS, progress)?;
    if let Some(found) = of(&probe) {
        return Ok(found);
    }
    if probe.has_more() {
        probe = Probe::new(&input.bytes, probe::MANY_RECORDS, progress)?;
    }
    of(&probe).ok_or_else(|| {
        let looks_like = probe.looks_like();
        Refused { looks_like }.into()
    })
}

/// Returns a warning if the compactions of a session reach the limit of kept messages.
fn compaction_warning(sessions: &[Session]) -> Option<Warning> {
    let kept = |s: &Session| s.compactions.iter().map(|c| c.kept.len()).sum::<usize>();
    let is_full = |s: &&Session| kept(s) + s.messages.len() > MAX_KEPT;
    let text = "compactions reach the limit of kept messages; the last ones may be missing";
    sessions.iter().find(is_full).map(|_| Warning {
        line: None,
        text: text.to_owned(),
    })
}

/// Checks the first bytes of a file, so that a binary file is rejected before it is read as a whole.
///
/// # Errors
/// [`Refused`] if the file cannot be a session.
pub fn check_start(start: &[u8]) -> Result<(), Refused> {
    match probe::binary(start) {
        Some(what) => Err(Refused {
            looks_like: format!("this looks like {what}"),
        }),
        None => Ok(()),
    }
}

/// Formats listed in the error for an unsupported file.
const PROMINENT: [&str; 6] = [
    "claude_code",
    "codex_rollout",
    "gemini_cli",
    "opencode",
    "openai_chat",
    "anthropic_messages",
];

/// Returns the most common formats and the number of the others, as part of a sentence.
pub fn prominent() -> String {
    let named = FORMATS.iter().filter(|f| PROMINENT.contains(&f.name));
    let labels: Vec<_> = named.map(|f| f.label).collect();
    let more = FORMATS.len() - labels.len();
    format!("{} and {more} more formats", labels.join(", "))
}

/// Returns the labels of all formats, as part of a sentence.
pub fn supported() -> String {
    let labels: Vec<_> = FORMATS.iter().map(|f| f.label).collect();
    match labels.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => labels.concat(),
    }
}
