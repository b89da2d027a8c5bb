//! All sessions of a file, such as a database, a log or a data set: the file is read once, each session is prepared on
//! request.

use super::source::FileSource;
use super::{LoadOptions, case_of, load_entry, parse, started_by};
use crate::engine::Case;
use crate::exec::database::Snapshot;
use crate::exec::files::{LoadError, file_name};
use crate::formats::{self, DatabaseSession, Input, Parsed};
use crate::progress::Progress;
use crate::session::{Session, Track};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The main sessions of a file, without conversations of sub-agents and abandoned branches.
#[derive(Debug)]
pub struct FileSessions {
    /// Name for messages.
    name: String,
    content: SessionsContent,
    /// Index of each session in the file, as in [`LoadOptions::conversation`].
    numbers: Vec<usize>,
}

/// A conversation of a file, with what the file records about it.
#[derive(Debug)]
pub(crate) struct OpenedConversation {
    /// Session, token counts and context windows.
    pub(crate) case: Case,
    /// Id of the session, if its format has one.
    pub(crate) id: Option<String>,
    /// Id of the session that started it, if it is a sub-agent's.
    pub(crate) parent: Option<String>,
    /// `main`, `sub_agent` or `branch`.
    pub(crate) relation: &'static str,
    /// Folder in which the agent worked; that of the main conversation if a sub-agent records none.
    pub(crate) project: Option<String>,
    /// Number of warnings about the file.
    pub(crate) warnings: usize,
}

#[derive(Debug)]
enum SessionsContent {
    Database(PathBuf, Box<Snapshot>),
    Document {
        sessions: Vec<Arc<Session>>,
        /// Number of warnings about the file.
        warnings: usize,
        /// Id of the session that started the one of the file.
        parent: Option<String>,
        /// Keeps the file decompressed while several sessions use it.
        _bytes: Option<Arc<Vec<u8>>>,
    },
}

impl FileSessions {
    /// Reads a file. Blocks.
    ///
    /// # Errors
    /// Returns a [`LoadError`] if the file does not exist, cannot be read, or contains no conversation.
    pub fn open(path: &Path, progress: &Progress) -> Result<Self, LoadError> {
        match FileSource::open(path, progress)? {
            FileSource::Document(document) => Self::parse(&document, progress),
            FileSource::Database(snapshot) => Ok(Self {
                name: file_name(path),
                numbers: main_entries(snapshot.entries()),
                content: SessionsContent::Database(path.to_owned(), snapshot),
            }),
        }
    }

    fn parse(document: &Input, progress: &Progress) -> Result<Self, LoadError> {
        let Parsed { sessions, warnings, report } = parse(document, progress)?;
        let is_main = |number: &usize| sessions[*number].track == Track::Main;
        let mut numbers: Vec<usize> = (0..sessions.len()).filter(is_main).collect();
        if numbers.len() < 2 {
            // The session that opens by default, whatever its track.
            numbers = vec![0];
        }
        let first = sessions.first().filter(|_| numbers.len() > 1);
        let bytes = first.map(|session| session.source.bytes.whole());
        Ok(Self {
            name: document.name.clone(),
            content: SessionsContent::Document {
                sessions: sessions.into_iter().map(Arc::new).collect(),
                warnings: warnings.len(),
                parent: report.parent,
                _bytes: bytes,
            },
            numbers,
        })
    }

    /// Returns the index of each session in the file; at least one.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Returns true if a session must be named by its number. That is so in every database, since sessions are added to
    /// it.
    pub fn are_numbered(&self) -> bool {
        self.numbers.len() > 1 || matches!(self.content, SessionsContent::Database(..))
    }

    /// Returns the row of a session in its database; `None` if the file is not a database.
    pub(crate) fn entry(&self, number: usize) -> Option<&DatabaseSession> {
        match &self.content {
            SessionsContent::Database(_, snapshot) => snapshot.entries().get(number),
            SessionsContent::Document { .. } => None,
        }
    }

    /// Returns the session with this index in the file, without token counts.
    ///
    /// # Errors
    /// Returns a [`LoadError`] if there is no such session, it cannot be read any more, or `progress` is cancelled.
    pub(crate) fn session(
        &self,
        number: usize,
        progress: &Progress,
    ) -> Result<Arc<Session>, LoadError> {
        let missing = |n: usize| LoadError::no_such_conversation(&self.name, n);
        match &self.content {
            SessionsContent::Database(_, snapshot) => {
                let (document, _) = snapshot.document(number, progress)?;
                let mut sessions = parse(&document, progress)?.sessions.into_iter();
                sessions.next().map(Arc::new).ok_or_else(|| missing(1))
            }
            SessionsContent::Document { sessions, .. } => {
                let session = sessions.get(number).map(Arc::clone);
                session.ok_or_else(|| missing(sessions.len()))
            }
        }
    }

    /// Prepares the session with this index in the file; [`LoadOptions::conversation`] is ignored.
    ///
    /// # Errors
    /// Returns a [`LoadError`] if the session is empty, cannot be read any more, or `progress` is cancelled.
    pub fn case(
        &self,
        number: usize,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<Case, LoadError> {
        let options = LoadOptions { conversation: number, ..*options };
        match &self.content {
            SessionsContent::Database(path, snapshot) => {
                Ok(load_entry(snapshot, path, &options, progress)?.case)
            }
            SessionsContent::Document { sessions, .. } => {
                let session = sessions
                    .get(number)
                    .ok_or_else(|| LoadError::no_such_conversation(&self.name, sessions.len()))?;
                case_of(&self.name, Arc::clone(session), &options, progress)
            }
        }
    }

    /// Returns the number of conversations, with those of sub-agents and abandoned branches.
    pub(crate) fn n_conversations(&self) -> usize {
        match &self.content {
            SessionsContent::Database(_, snapshot) => snapshot.entries().len(),
            SessionsContent::Document { sessions, .. } => sessions.len(),
        }
    }

    /// Prepares any conversation of the file, which is at this path; [`LoadOptions::conversation`] is ignored.
    ///
    /// # Errors
    /// Returns a [`LoadError`] as [`Self::case`] does.
    pub(crate) fn open_conversation(
        &self,
        path: &Path,
        number: usize,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<OpenedConversation, LoadError> {
        let options = LoadOptions { conversation: number, ..*options };
        match &self.content {
            SessionsContent::Database(_, snapshot) => {
                let loaded = load_entry(snapshot, path, &options, progress)?;
                let entry = &snapshot.entries()[number];
                let is_main = self.numbers.contains(&number);
                Ok(OpenedConversation {
                    project: loaded.case.session.project.clone(),
                    case: loaded.case,
                    id: Some(entry.id.clone()),
                    parent: entry.parent.clone(),
                    relation: if is_main { "main" } else { "sub_agent" },
                    warnings: loaded.warnings.len(),
                })
            }
            SessionsContent::Document { warnings, sessions, .. } => {
                let case = self.case(number, &options, progress)?;
                let (id, parent, relation) = self.relation(path, number, &case.session);
                let main = self.numbers.first().and_then(|main| sessions.get(*main));
                let of_main = main.filter(|_| relation != "main");
                let project = case.session.project.clone();
                let project = project.or_else(|| of_main?.project.clone());
                Ok(OpenedConversation { case, id, parent, relation, project, warnings: *warnings })
            }
        }
    }

    /// Returns the id of a conversation of a document, the id of the session that started it, and its relation to the others.
    fn relation(
        &self,
        path: &Path,
        number: usize,
        session: &Session,
    ) -> (Option<String>, Option<String>, &'static str) {
        let SessionsContent::Document { sessions, parent, .. } = &self.content else {
            return (None, None, "main");
        };
        let [own] = self.numbers[..] else {
            return match &session.track {
                Track::Main => (session.id.clone(), None, "main"),
                Track::SubAgent(agent) => (agent.id.as_deref().map(Into::into), None, "sub_agent"),
                Track::Branch => (session.id.clone(), None, "branch"),
            };
        };
        let first = &sessions[own];
        let identity = || formats::identity_of(&first.source).map(|known| known.id.into());
        let id: Option<String> = first.id.clone().or_else(identity);
        let format = first.source.format;
        let parent = parent.clone().or_else(|| started_by(path, format, id.as_deref()));
        // Some sub-agents have the id of the session that started them.
        let id = id.filter(|id| parent.as_ref() != Some(id));
        match &session.track {
            Track::Branch => (id, parent, "branch"),
            Track::SubAgent(agent) if number != own => {
                (agent.id.as_deref().map(Into::into), id, "sub_agent")
            }
            Track::SubAgent(agent) => {
                (id.or_else(|| agent.id.as_deref().map(Into::into)), parent, "sub_agent")
            }
            Track::Main if parent.is_some() => (id, parent, "sub_agent"),
            Track::Main => (id, None, "main"),
        }
    }
}

/// Returns the sessions without a parent in the database; all if each has one.
fn main_entries(entries: &[DatabaseSession]) -> Vec<usize> {
    let ids: HashSet<&str> = entries.iter().map(|entry| &*entry.id).collect();
    let is_main = |n: &usize| {
        let parent = entries[*n].parent.as_deref();
        parent.is_none_or(|parent| !ids.contains(parent))
    };
    let main: Vec<usize> = (0..entries.len()).filter(is_main).collect();
    if main.is_empty() {
        return (0..entries.len()).collect();
    }
    main
}
