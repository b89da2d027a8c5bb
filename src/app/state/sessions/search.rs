//! A search in all listed sessions, in the background.

use crate::analysis::query::{Query, QueryError};
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task::Background;
use crate::exec::search::{FoundSession, SearchOptions, SearchResult, search};
use crate::exec::stores::{FoundFile, FoundFiles};
use crate::exec::{IndexError, IndexFolder, stores};
use crate::progress::Progress;
use crate::tokens;
use crate::units::Share;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Maximum number of messages that are listed per session.
const MAX_MESSAGES: usize = 20;
/// Maximum length of a snippet, in characters.
const SNIPPET_CHARS: usize = 110;
/// Time without typing after which a search of the index starts.
const PAUSE: Duration = Duration::from_millis(250);
/// Minimum number of letters of a search that starts by itself.
const MIN_LETTERS: usize = 2;

/// A row of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundRow {
    /// A session, by index.
    Session(usize),
    /// A message of a session, by indices.
    Message(usize, usize),
    /// The messages of a session that are not listed.
    More(usize),
}

/// A search in all sessions.
#[derive(Debug)]
pub struct SessionSearch {
    /// The query as typed.
    pub text: String,
    /// The error in the query.
    pub error: Option<QueryError>,
    /// The query that was searched last, as typed.
    pub searched: Option<String>,
    /// Its result; sessions found so far while it is running.
    pub result: SearchResult,
    /// Rows of the result.
    pub rows: Vec<FoundRow>,
    /// Index of the row highlighted by keyboard.
    pub highlighted: Option<usize>,
    /// The last search was stopped: its result is incomplete.
    pub is_stopped: bool,
    /// Error of the search.
    pub problem: Option<String>,
    /// The folder of the index.
    pub index: IndexFolder,
    /// Whether the index is on, and its size in bytes.
    pub index_bytes: Option<u64>,
    /// The files that the last search or update of the index found, until they are taken.
    pub(crate) files: Option<HashSet<PathBuf>>,
    query: Query,
    typed: Option<Instant>,
    running: Option<Running>,
}

/// Work in the background.
#[derive(Debug)]
struct Running {
    progress: Arc<Progress>,
    /// Searches; otherwise only brings the index up to date.
    is_search: bool,
    found: Receiver<FoundSession>,
    work: Background<Result<Searched, String>>,
}

/// A finished search or update of the index.
#[derive(Debug)]
struct Searched {
    /// The files that were found, with or without a match.
    files: HashSet<PathBuf>,
    /// The result; empty after an update of the index.
    result: SearchResult,
}

impl SessionSearch {
    /// Creates an empty search.
    pub(crate) fn new(index: IndexFolder) -> Self {
        let mut search = Self {
            text: String::new(),
            error: None,
            searched: None,
            result: SearchResult::default(),
            rows: Vec::new(),
            highlighted: None,
            is_stopped: false,
            problem: None,
            index,
            index_bytes: None,
            files: None,
            query: Query::default(),
            typed: None,
            running: None,
        };
        search.measure_index();
        search
    }

    /// Returns whether results replace the table of sessions.
    pub fn is_active(&self) -> bool {
        !self.text.trim().is_empty()
    }

    /// Returns whether the results are those of the typed query.
    pub fn is_current(&self) -> bool {
        self.searched.as_ref() == Some(&self.text)
    }

    /// Returns whether the results are those of another query than the typed one, and stay so until Enter is pressed.
    pub fn is_outdated(&self) -> bool {
        !self.is_current() && (self.error.is_some() || self.index_bytes.is_none())
    }

    /// Returns whether the result is the whole result of the typed query.
    pub fn is_complete(&self) -> bool {
        self.is_current() && !self.is_stopped && self.problem.is_none() && self.running.is_none()
    }

    /// Returns the share of files that are done; `None` if nothing is running.
    pub fn progress(&self) -> Option<Share> {
        let running = self.running.as_ref()?;
        Some(running.progress.share().unwrap_or_default())
    }

    /// Changes the query.
    pub(crate) fn set_text(&mut self, text: String) {
        match Query::parse(&text) {
            Ok(query) => (self.query, self.error) = (query, None),
            Err(error) => self.error = Some(error),
        }
        self.typed = Some(Instant::now());
        self.text = text;
        if !self.is_active() {
            self.cancel();
            self.is_stopped = false;
            self.searched = None;
            self.result = SearchResult::default();
            self.update_rows();
        }
    }

    /// Starts the search for the typed query in a folder, or in the agents' own folders.
    pub(crate) fn start(&mut self, repaint: &Repaint, mode: WorkMode, folder: Option<PathBuf>) {
        self.typed = None;
        if self.error.is_some() || self.query.is_empty() {
            return;
        }
        let options = SearchOptions {
            query: self.query.clone(),
            counter: tokens::default_counter(),
            most: MAX_MESSAGES,
            snippet: SNIPPET_CHARS,
        };
        self.cancel();
        self.is_stopped = false;
        self.searched = Some(self.text.clone());
        self.result = SearchResult::default();
        self.update_rows();
        self.run(repaint, mode, folder, Some(options));
    }

    /// Brings an index that is on up to date, unless a search does.
    pub(crate) fn update_index(
        &mut self,
        repaint: &Repaint,
        mode: WorkMode,
        folder: Option<PathBuf>,
    ) {
        if self.index.is_on() && self.running.is_none() {
            self.run(repaint, mode, folder, None);
        }
    }

    fn run(
        &mut self,
        repaint: &Repaint,
        mode: WorkMode,
        folder: Option<PathBuf>,
        options: Option<SearchOptions>,
    ) {
        self.cancel();
        self.problem = None;
        let (progress, is_search) = (Arc::new(Progress::default()), options.is_some());
        let (sender, found) = channel();
        let (shared, index, redrawn) = (Arc::clone(&progress), self.index.clone(), repaint.clone());
        let work = move || {
            let files = files(folder.as_deref(), &shared)?.files;
            let result = match &options {
                Some(options) => search(&files, options, &index, &shared, |session| {
                    // The search may be stopped already.
                    let _ = sender.send(session.clone());
                    redrawn.after(Duration::from_millis(50));
                })
                .map_err(|cancelled| cancelled.to_string())?,
                None => update(&index, &files, &shared)?,
            };
            let files = files.into_iter().map(|file| file.path).collect();
            Ok(Searched { files, result })
        };
        self.running =
            Some(Running { progress, is_search, found, work: mode.start(repaint, "search", work) });
    }

    /// Stops what is running.
    pub(crate) fn cancel(&mut self) {
        if let Some(running) = self.running.take() {
            running.progress.cancel();
            self.is_stopped |= running.is_search;
        }
    }

    /// Receives results since the last frame, and starts the search of an index once typing pauses.
    pub(crate) fn poll(&mut self, repaint: &Repaint, mode: WorkMode, folder: Option<&Path>) {
        self.receive();
        let letters = self.text.trim().chars().count();
        let is_due = self.index_bytes.is_some() && letters >= MIN_LETTERS;
        let is_due = is_due && (!self.is_current() || self.is_stopped);
        if let Some(typed) = self.typed.filter(|_| is_due) {
            match PAUSE.checked_sub(typed.elapsed()) {
                Some(rest) if mode == WorkMode::AsNeeded => repaint.after(rest),
                _ => self.start(repaint, mode, folder.map(Path::to_owned)),
            }
        }
    }

    fn receive(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        let n_before = self.result.sessions.len();
        self.result.sessions.extend(running.found.try_iter());
        match running.work.take() {
            Ok(Some(Ok(Searched { files, result }))) => {
                self.files = Some(files);
                self.result = result;
                self.measure_index();
                self.update_rows();
            }
            Ok(Some(Err(problem))) => self.problem = Some(problem),
            Ok(None) => self.problem = Some("the search stopped unexpectedly".to_owned()),
            Err(work) => {
                if self.result.sessions.len() > n_before {
                    self.update_rows();
                }
                self.running = Some(Running { work, ..running });
            }
        }
    }

    /// Updates whether the index is on, and its size.
    pub(crate) fn measure_index(&mut self) {
        self.index_bytes = self.index.is_on().then(|| self.index.bytes());
    }

    fn update_rows(&mut self) {
        self.rows.clear();
        self.highlighted = None;
        for (idx, session) in self.result.sessions.iter().enumerate() {
            self.rows.push(FoundRow::Session(idx));
            let messages = 0..session.messages.len();
            self.rows.extend(messages.map(|message| FoundRow::Message(idx, message)));
            if session.messages.len() < session.n_messages {
                self.rows.push(FoundRow::More(idx));
            }
        }
    }
}

impl Drop for SessionSearch {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Brings the index up to date. Returns an empty result.
fn update(
    index: &IndexFolder,
    files: &[FoundFile],
    progress: &Progress,
) -> Result<SearchResult, String> {
    match index.open().and_then(|mut index| index.update(files, progress)) {
        Ok(_) | Err(IndexError::Cancelled) => Ok(SearchResult::default()),
        Err(error) => Err(error.to_string()),
    }
}

/// Finds the files of a folder, or of all agents.
pub(crate) fn files(folder: Option<&Path>, progress: &Progress) -> Result<FoundFiles, String> {
    match folder {
        Some(folder) => stores::find_in(folder, progress).map_err(|error| error.to_string()),
        None => stores::find(progress).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_search_is_incomplete_until_it_is_started_again() {
        let repaint = Repaint::none();
        let folder = tempfile::tempdir().unwrap();
        let chat =
            r#"[{"role":"user","content":"the ledger"},{"role":"assistant","content":"Done."}]"#;
        std::fs::write(folder.path().join("chat.json"), chat).unwrap();
        let folder = folder.path();
        let start = |search: &mut SessionSearch| {
            search.start(&repaint, WorkMode::InFrame, Some(folder.to_owned()));
        };
        let mut search = SessionSearch::new(IndexFolder::default());
        search.set_text("ledger".to_owned());
        start(&mut search);
        search.cancel();
        search.receive();
        assert!(search.is_current() && search.is_stopped && !search.is_complete());
        assert!(search.rows.is_empty());
        start(&mut search);
        assert!(!search.is_complete());
        search.receive();
        assert!(search.is_complete() && !search.rows.is_empty());
        // Nothing is running.
        search.cancel();
        assert!(search.is_complete());
        start(&mut search);
        search.cancel();
        search.set_text(String::new());
        assert!(!search.is_stopped);
    }
}
