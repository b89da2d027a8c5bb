//! The input and the result of reading a file.

use super::{json, prominent};
use crate::progress::Cancelled;
use crate::session::{FileBytes, Session, Source, Span};
use std::collections::BTreeMap;
use std::fmt;

/// A file to read.
#[derive(Clone, Debug)]
pub struct Input {
    /// File name, for titles and messages.
    pub name: String,
    /// The whole file.
    pub bytes: FileBytes,
}

impl Input {
    /// Returns the source of a session of this file. `number` is its number from 1 if the file has several.
    pub(super) fn source(&self, format: &'static str, number: Option<usize>) -> Source {
        let name = match number {
            Some(number) => format!("{} #{number}", self.name),
            None => self.name.clone(),
        };
        Source { name, format, bytes: self.bytes.clone() }
    }

    /// Sets the working directory of the sessions, the version of the agent and the id: the first texts at these places of
    /// the records, of which the first 8 are searched.
    pub(super) fn set_origin<'a>(
        &self,
        sessions: &mut [Session],
        records: &(impl Iterator<Item = &'a Span> + Clone),
        places: &OriginPlaces<'_>,
    ) {
        // Chosen: the programs record it in their first record, or in the first message.
        const FEW: usize = 8;
        let bytes = self.bytes.whole();
        let first = |path: &[&str]| {
            let text =
                |span| Some(json::str_at(&json::parse_span(&bytes, span)?, path)?.to_owned());
            records.clone().take(FEW).find_map(text)
        };
        let (project, version) = (first(places.folder), first(places.version));
        let id = first(places.id);
        for session in sessions {
            session.project.clone_from(&project);
            session.agent_version.clone_from(&version);
            session.id.clone_from(&id);
        }
    }
}

/// Places of facts about a session in a record, as names of members; empty if the format lacks the fact.
pub(super) struct OriginPlaces<'a> {
    /// Working directory.
    pub(super) folder: &'a [&'a str],
    /// Version of the agent.
    pub(super) version: &'a [&'a str],
    /// Id of the session.
    pub(super) id: &'a [&'a str],
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
    pub fn count_record(&mut self, kind: &str, in_context: bool) {
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
