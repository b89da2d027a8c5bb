//! How sessions are written: one file a format, one row a format in [`FORMATS`].
//!
//! Formats take bytes and give [`Session`]s; they read no files. Content never fails to parse: a bad line is a
//! [`Warning`] with its number and everything else loads. Only what is no conversation at all is [`Refused`].

mod accounted;
mod aider;
mod anthropic_messages;
mod any_message;
mod atif;
mod borrowed;
mod carriage;
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
mod json;
mod jsonl;
mod kimi;
mod kin;
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
mod resume;
mod rows;
mod sharegpt;
mod specstory;
mod swe_agent;
mod talk;
mod tau_bench;
mod time;
mod title;
mod trae_agent;
mod tree;

pub use carriage::{Carriage, carriage, tells_compactions};
pub use claude_code::Starts;
pub use database::{
    Ask, Cell, DATABASES, Database, Entry, Only, Rows, Table, database_of, known_databases,
};
pub use folder::{CLINE_HISTORY, FolderFile, put_together};
pub use kin::{Kin, Started, kin, kin_of};
pub use payload::media_bytes;
pub use probe::Probe;
pub use resume::{Adopt, Birth, Resumable, Resume};

use crate::progress::{Cancelled, Progress};
use crate::session::{FileBytes, MAX_KEPT, Managed, Session, Span};
use std::collections::BTreeMap;
use std::fmt;

/// The pieces of a record that a managed copy keeps byte for byte.
pub type Kept = fn(&[u8]) -> Vec<Span>;

/// One session file format.
#[derive(Debug)]
pub struct Format {
    /// Name, as its file here; used on the command line and in JSON.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Whether a file is of this format, and what tells it. Never by file name.
    pub detect: fn(&Probe) -> Option<String>,
    /// It reads the file piece by piece, so that a large one need not be there whole, or asks for all of it itself.
    pub in_pieces: bool,
    /// Reads the file.
    pub parse: fn(&Input, &Progress) -> Result<Parsed, Unread>,
    /// Writes a managed conversation, where the format can be written; others are only read.
    pub export: Option<Export>,
    /// What its files can hold beside what was said. What they do not hold is unknown, never zero.
    pub carries: &'static [Carried],
    /// The text of a record that a managed copy keeps byte for byte (default: all of it).
    pub kept: Option<Kept>,
    /// How a program carries on with such a file, where one does.
    pub resume: Option<Resume>,
}

/// What a session file may hold beside what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carried {
    /// Tokens that the provider reported.
    Usage,
    /// When messages were written.
    Times,
    /// What the program's own context management did.
    Compactions,
    /// The system prompt.
    SystemPrompt,
    /// Definitions of tools.
    Tools,
    /// Conversations of sub-agents.
    SubAgents,
}

impl Carried {
    /// Everything there is.
    pub const ALL: &'static [Self] = &[
        Self::Usage,
        Self::Times,
        Self::Compactions,
        Self::SystemPrompt,
        Self::Tools,
        Self::SubAgents,
    ];

    /// Its name for people.
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

/// Every format we know, in the order they are tried.
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

/// What a format reads.
#[derive(Clone, Debug)]
pub struct Input {
    /// File name, for titles and messages.
    pub name: String,
    /// The whole file.
    pub bytes: FileBytes,
}

/// What was read.
#[derive(Debug)]
pub struct Parsed {
    /// The conversations of the file; at least one.
    pub sessions: Vec<Session>,
    /// What could not be read or is odd, in file order.
    pub warnings: Vec<Warning>,
    /// What was taken as context and what was not.
    pub report: ImportReport,
}

/// Something in the file that did not read as it should; everything else did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Line of the file, from 1, where there are lines.
    pub line: Option<usize>,
    /// What is wrong, as a sentence without a final period.
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

/// How a file was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// What told the format.
    pub recognized_by: String,
    /// Records of the file by their kind, as the format calls them.
    pub records: BTreeMap<String, RecordCount>,
    /// Sub-agents that the main conversation tells of by their ids: the tool call that started each.
    pub sub_agents: BTreeMap<String, Box<str>>,
    /// Id of the session that started this one, which is a sub-agent's.
    pub parent: Option<String>,
}

/// How many records of one kind there are and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCount {
    /// Records in the file.
    pub count: usize,
    /// Of these, how many are context of the main line (the rest is kept, but weighs nothing).
    pub in_context: usize,
}

impl ImportReport {
    /// Notes one record.
    pub fn note(&mut self, kind: &str, in_context: bool) {
        let count = match self.records.get_mut(kind) {
            Some(count) => count,
            None => self.records.entry(kind.to_owned()).or_default(),
        };
        count.count += 1;
        count.in_context += usize::from(in_context);
    }
}

/// A file that is no conversation: what it looks like, and what is supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{looks_like}. Supported are {}", prominent())]
pub struct Refused {
    /// What the file looks like, as a sentence without a final period.
    pub looks_like: String,
}

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It is no conversation.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Whoever asked for it asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Why a conversation cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CannotExport {
    /// As a sentence without a final period.
    pub reason: String,
}

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name == name)
}

/// Reads a file of any known format, told by its content.
///
/// # Errors
/// [`Refused`] when it is no conversation.
pub fn parse(input: &Input) -> Result<Parsed, Refused> {
    match parse_with(input, &Progress::default()) {
        Ok(parsed) => Ok(parsed),
        Err(Unread::Refused(refused)) => Err(refused),
        Err(Unread::Cancelled(_)) => unreachable!("nobody else holds the progress to cancel it"),
    }
}

/// The same with somebody who waits: advances `progress` by about the file's bytes in all.
///
/// # Errors
/// [`Unread`] when it is no conversation or `progress` says to stop.
pub fn parse_with(input: &Input, progress: &Progress) -> Result<Parsed, Unread> {
    let (format, why) = recognized(input, progress)?;
    progress.go_on()?;
    let held = (!format.in_pieces).then(|| input.bytes.whole());
    let mut parsed = (format.parse)(input, progress)?;
    parsed.report.recognized_by = why;
    notes::sum_up(&mut parsed.warnings);
    let unaccounted = accounted::check(input, format, &parsed, progress)?;
    parsed.warnings.extend(unaccounted);
    parsed.warnings.extend(crowded(&parsed.sessions));
    parsed
        .warnings
        .extend(notes::left_out_usage(&parsed.sessions));
    drop(held);
    Ok(parsed)
}

/// The format of a file, and by what it was told.
fn recognized(input: &Input, progress: &Progress) -> Result<(&'static Format, String), Unread> {
    let of = |probe: &Probe| {
        let told = |format: &'static Format| Some((format, (format.detect)(probe)?));
        FORMATS.iter().find_map(told)
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

/// A word on a session whose compactions keep as many messages as are read.
fn crowded(sessions: &[Session]) -> Option<Warning> {
    let kept = |s: &Session| s.compactions.iter().map(|c| c.kept.len()).sum::<usize>();
    let is_full = |s: &&Session| kept(s) + s.messages.len() > MAX_KEPT;
    let text = "there are so many compactions that the last may have been left out";
    sessions.iter().find(is_full).map(|_| Warning {
        line: None,
        text: text.to_owned(),
    })
}

/// Refuses a file by its first bytes where they already tell that it is no text, so that the rest of it need not be
/// read.
///
/// # Errors
/// [`Refused`] when it cannot be a session.
pub fn check_start(start: &[u8]) -> Result<(), Refused> {
    match probe::binary(start) {
        Some(what) => Err(Refused {
            looks_like: format!("this looks like {what}"),
        }),
        None => Ok(()),
    }
}

/// Formats that a refusal names.
const PROMINENT: [&str; 6] = [
    "claude_code",
    "codex_rollout",
    "gemini_cli",
    "opencode",
    "openai_chat",
    "anthropic_messages",
];

/// The formats that most people have, and how many more there are, for a sentence.
pub fn prominent() -> String {
    let named = FORMATS.iter().filter(|f| PROMINENT.contains(&f.name));
    let labels: Vec<_> = named.map(|f| f.label).collect();
    let more = FORMATS.len() - labels.len();
    format!("{} and {more} more formats", labels.join(", "))
}

/// The labels of all formats as a list for a sentence.
pub fn supported() -> String {
    let labels: Vec<_> = FORMATS.iter().map(|f| f.label).collect();
    match labels.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => labels.concat(),
    }
}
