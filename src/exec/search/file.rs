//! Searches the sessions of one file, in the file or in the index.

use super::{FoundSession, SearchOptions};
use crate::analysis::query::{FoundMessage, QuerySubject};
use crate::exec::files::LoadError;
use crate::exec::index::{Candidates, Index, IndexError, IndexedFile, StoredSession};
use crate::exec::load::{FileSessions, LoadOptions};
use crate::exec::stores::{FoundFile, moment};
use crate::progress::Progress;
use crate::units::Millis;

/// The sessions of one file that were searched.
#[derive(Default)]
pub(super) struct SearchedFile {
    pub(super) sessions: Vec<SearchedSession>,
    /// Reason why the file cannot be opened.
    pub(super) problem: Option<String>,
}

/// The matches of one session.
pub(super) struct SearchedSession {
    pub(super) head: StoredSession,
    n_messages: usize,
    n_hits: usize,
    messages: Vec<FoundMessage>,
}

/// An index and the messages in it that may match the query.
#[derive(Clone, Copy)]
pub(super) struct SearchedIndex<'a> {
    pub(super) index: &'a Index,
    pub(super) candidates: &'a Candidates,
}

/// Searches a file in the index; `None` if it is not there.
pub(super) fn from_index(
    file: &FoundFile,
    options: &SearchOptions,
    SearchedIndex { index, candidates }: SearchedIndex<'_>,
) -> Result<Option<SearchedFile>, IndexError> {
    let sessions = match index.file(&file.path)? {
        None => return Ok(None),
        Some(IndexedFile::Unreadable(problem)) => return Ok(Some(SearchedFile::unread(problem))),
        Some(IndexedFile::Sessions(sessions)) => sessions,
    };
    let mut searched = SearchedFile::default();
    for session in sessions {
        let mut matches = SearchedSession::new(session.head.clone());
        index.messages(&session, candidates, |subject| {
            matches.add(subject, options);
        })?;
        searched.sessions.push(matches);
    }
    Ok(Some(searched))
}

/// Reads a file and searches it.
pub(super) fn from_file(
    file: &FoundFile,
    options: &SearchOptions,
    progress: &Progress,
) -> SearchedFile {
    // The given progress counts files.
    let progress = &progress.with_same_cancellation();
    let sessions = match FileSessions::open(&file.path, progress) {
        Ok(sessions) => sessions,
        Err(error) => return SearchedFile::unread(error.to_string()),
    };
    let (mut searched, mut problem) = (SearchedFile::default(), None);
    for number in sessions.numbers() {
        match search_session(&sessions, *number, options, progress) {
            Ok(session) => searched.sessions.push(session),
            Err(why) => problem = problem.or(Some(why)),
        }
    }
    searched.problem = problem.filter(|_| searched.sessions.is_empty());
    searched
}

fn search_session(
    sessions: &FileSessions,
    number: usize,
    options: &SearchOptions,
    progress: &Progress,
) -> Result<SearchedSession, String> {
    let line = |error: LoadError| error.to_string();
    let session = sessions.session(number, progress).map_err(line)?;
    let mut subjects =
        (0..session.messages.len()).map(|idx| QuerySubject::new(&session, None, idx));
    // Tokens are counted only in sessions with a match.
    if !options.query.needs_tokens() && !subjects.any(|subject| options.query.accepts(&subject)) {
        return Ok(SearchedSession::new(StoredSession::new(sessions, number, &session)));
    }
    let load = LoadOptions { counter: options.counter, window: None, conversation: number };
    let case = sessions.case(number, &load, progress).map_err(line)?;
    let (session, ledger) = (&case.session, &case.ledger);
    let mut matches = SearchedSession::new(StoredSession::new(sessions, number, session));
    for index in 0..session.messages.len() {
        matches.add(&QuerySubject::new(session, Some(ledger), index), options);
    }
    Ok(matches)
}

impl SearchedFile {
    fn unread(problem: String) -> Self {
        Self { sessions: Vec::new(), problem: Some(problem) }
    }
}

impl SearchedSession {
    fn new(head: StoredSession) -> Self {
        Self { head, n_messages: 0, n_hits: 0, messages: Vec::new() }
    }

    /// Adds a message if it matches.
    fn add(&mut self, subject: &QuerySubject<'_>, options: &SearchOptions) {
        let Some(found) = options.query.find_in(subject, options.snippet) else {
            return;
        };
        self.n_messages += 1;
        self.n_hits += found.n_hits;
        if self.messages.len() < options.most {
            self.messages.push(found);
        }
    }

    /// Returns the session if messages of it match.
    pub(super) fn found(self, file: &FoundFile) -> Option<FoundSession> {
        let Self { head, .. } = self;
        let updated = head.updated.map(Millis).and_then(moment);
        (self.n_messages > 0).then(|| FoundSession {
            found: FoundFile { modified: updated.or(file.modified), ..file.clone() },
            conversation: head.is_numbered.then_some(head.number),
            title: head.title,
            project: head.project,
            format: head.format,
            times: head.times,
            n_messages: self.n_messages,
            n_hits: self.n_hits,
            messages: self.messages,
        })
    }
}
