//! Searches the messages of many sessions, in their files or in the index.

mod file;

use crate::analysis::query::{FoundMessage, Query};
use crate::exec::database::is_database;
use crate::exec::index::{Index, IndexError, IndexFolder};
use crate::exec::stores::FoundFile;
use crate::formats;
use crate::progress::{Cancelled, Progress};
use crate::tokens::{self, Counter};
use file::{SearchedFile, SearchedIndex, from_file, from_index};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::atomic::Ordering;

/// Files that are searched at once. Results are reported after each batch in the order of the files. Chosen: smaller
/// batches leave cores idle at their end, larger ones delay the first result and hold more files in memory.
const BATCH: usize = 16;

/// The query of a search and the limits of its result.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// The query.
    pub query: Query,
    /// The tokenizer. The index is used only with the default one.
    pub counter: &'static Counter,
    /// Maximum number of messages that are returned per session. All are counted.
    pub most: usize,
    /// Characters of a snippet.
    pub snippet: usize,
}

/// A session with messages that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSession {
    /// Its file, with the time of the session's last change.
    pub found: FoundFile,
    /// Index of the conversation; `None` if the file holds only one.
    pub conversation: Option<usize>,
    /// Title.
    pub title: String,
    /// Folder in which the agent worked.
    pub project: Option<String>,
    /// Name of the format.
    pub format: String,
    /// Times of its first and last call in milliseconds since 1970; `None` if it records none.
    pub times: Option<(i64, i64)>,
    /// Number of messages that match.
    pub n_messages: usize,
    /// Number of matches.
    pub n_hits: usize,
    /// The first messages that match.
    pub messages: Vec<FoundMessage>,
}

/// A file that cannot be opened as a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadFile {
    /// The file.
    pub found: FoundFile,
    /// The reason, in one line.
    pub reason: String,
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// Sessions with matches, newest first.
    pub sessions: Vec<FoundSession>,
    /// Number of sessions that were searched. A session that its program migrated from a file to a database counts
    /// once.
    pub n_searched: usize,
    /// Files that cannot be opened as a session.
    pub unread: Vec<UnreadFile>,
    /// Whether the index was used.
    pub uses_index: bool,
    /// Reason why an index that is switched on was not used.
    pub index_problem: Option<String>,
}

impl FoundSession {
    /// Returns the agent whose folder contains the session, else its format.
    pub fn agent_label(&self) -> &str {
        let agent = self.found.agent;
        agent.unwrap_or_else(|| formats::label(&self.format))
    }
}

impl SearchResult {
    /// Returns the number of matches.
    pub fn n_hits(&self) -> usize {
        self.sessions.iter().map(|session| session.n_hits).sum()
    }

    /// Returns the number of messages that match.
    pub fn n_messages(&self) -> usize {
        self.sessions.iter().map(|session| session.n_messages).sum()
    }

    /// Returns a warning if an index that is switched on was not used.
    pub fn warning(&self) -> Option<String> {
        let problem = self.index_problem.as_ref()?;
        Some(format!("{problem}; all files were read"))
    }
}

/// Searches the sessions in these files. An index that is switched on is brought up to date first; `progress` counts
/// the files to read, then the files to search. Reports each session to `on_found` once, as it is found; the result has
/// them in order. Blocks.
///
/// # Errors
/// Returns [`Cancelled`] if `progress` is cancelled.
pub fn search(
    files: &[FoundFile],
    options: &SearchOptions,
    index: &IndexFolder,
    progress: &Progress,
    mut on_found: impl FnMut(&FoundSession),
) -> Result<SearchResult, Cancelled> {
    let mut reported = HashSet::new();
    // A search that starts again finds the same sessions.
    let mut on_found = |session: &FoundSession| {
        if reported.insert((session.found.path.clone(), session.conversation)) {
            on_found(session);
        }
    };
    let is_usable = options.counter.name == tokens::default_counter().name;
    let mut index_problem = None;
    if is_usable && index.is_on() {
        match search_indexed(files, options, index, progress, &mut on_found) {
            Ok(result) => return Ok(result),
            Err(IndexError::Cancelled) => return Err(Cancelled),
            // The user removed it meanwhile.
            Err(IndexError::Off) => {}
            Err(error) => index_problem = Some(error.to_string()),
        }
    }
    progress.check_cancelled()?;
    let result = search_files(files, options, None, progress, &mut on_found);
    result
        .map(|result| SearchResult { index_problem, ..result.into_result() })
        // Without an index, only cancellation fails.
        .map_err(|_error| Cancelled)
}

fn search_indexed(
    files: &[FoundFile],
    options: &SearchOptions,
    folder: &IndexFolder,
    progress: &Progress,
    on_found: &mut dyn FnMut(&FoundSession),
) -> Result<SearchResult, IndexError> {
    let mut index = folder.open()?;
    index.update(files, progress)?;
    let searched = |index: &Index, on_found: &mut dyn FnMut(&FoundSession)| {
        let candidates = &index.candidates(&options.query)?;
        let index = Some(SearchedIndex { index, candidates });
        search_files(files, options, index, progress, on_found)
    };
    let all = match searched(&index, on_found) {
        Err(error) if error.is_repairable() => {
            index.rebuild()?;
            index.update(files, progress)?;
            searched(&index, on_found)?
        }
        all => all?,
    };
    Ok(SearchResult { uses_index: true, ..all.into_result() })
}

/// Results of files, in the order of the search.
#[derive(Default)]
struct SearchedFiles {
    sessions: Vec<FoundSession>,
    n_searched: usize,
    unread: Vec<UnreadFile>,
    /// Ids of sessions in databases.
    ids: HashSet<String>,
}

/// Searches databases, then the files whose sessions are not in one of them.
fn search_files(
    files: &[FoundFile],
    options: &SearchOptions,
    index: Option<SearchedIndex<'_>>,
    progress: &Progress,
    on_found: &mut dyn FnMut(&FoundSession),
) -> Result<SearchedFiles, IndexError> {
    progress.total.store(files.len() as u64, Ordering::Relaxed);
    progress.done.store(0, Ordering::Relaxed);
    let mut all = SearchedFiles::default();
    let (databases, mut others): (Vec<&FoundFile>, Vec<_>) =
        files.iter().partition(|file| is_database(&file.path));
    search_in_batches(&mut all, &databases, options, index, progress, on_found)?;
    let n_before = others.len();
    others.retain(|file| !file.is_migrated(&all.ids));
    progress.advance((n_before - others.len()) as u64);
    search_in_batches(&mut all, &others, options, index, progress, on_found)?;
    Ok(all)
}

fn search_in_batches(
    all: &mut SearchedFiles,
    files: &[&FoundFile],
    options: &SearchOptions,
    index: Option<SearchedIndex<'_>>,
    progress: &Progress,
    on_found: &mut dyn FnMut(&FoundSession),
) -> Result<(), IndexError> {
    for batch in files.chunks(BATCH) {
        let mut searched: Vec<Option<SearchedFile>> = Vec::with_capacity(batch.len());
        for file in batch {
            progress.check_cancelled()?;
            searched.push(match index {
                Some(index) => from_index(file, options, index)?,
                None => None,
            });
        }
        let searched: Vec<SearchedFile> = searched
            .into_par_iter()
            .zip(batch)
            .with_max_len(1)
            .map(|(known, file)| known.unwrap_or_else(|| from_file(file, options, progress)))
            .collect();
        progress.check_cancelled()?;
        for (file, searched) in batch.iter().zip(searched) {
            all.add(file, searched, on_found);
        }
        progress.advance(batch.len() as u64);
    }
    Ok(())
}

impl SearchedFiles {
    fn add(
        &mut self,
        file: &FoundFile,
        searched: SearchedFile,
        on_found: &mut dyn FnMut(&FoundSession),
    ) {
        self.unread
            .extend(searched.problem.map(|reason| UnreadFile { found: file.clone(), reason }));
        for session in searched.sessions {
            self.n_searched += 1;
            self.ids.extend(session.head.id.clone());
            if let Some(found) = session.found(file) {
                on_found(&found);
                self.sessions.push(found);
            }
        }
    }

    /// Returns the result, the newest call first. Sessions without a recorded time are last.
    fn into_result(self) -> SearchResult {
        let Self { mut sessions, n_searched, unread, ids: _ } = self;
        sessions.sort_by(|a, b| {
            let ended = |session: &FoundSession| Reverse(session.times.map(|(_, end)| end));
            ended(a).cmp(&ended(b)).then_with(|| a.found.path.cmp(&b.found.path))
        });
        SearchResult { sessions, n_searched, unread, ..SearchResult::default() }
    }
}
