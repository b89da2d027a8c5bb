//! Brings the index up to date: reads new and changed files, and removes those that no longer exist.

use super::database::{FileRow, NewContent, NewMessage, NewSession};
use super::narrow::folded;
use super::stored::{self, StoredSession};
use super::{Index, IndexError};
use crate::analysis::query::QuerySubject;
use crate::exec::load::{FileSessions, LoadOptions, stamp_of};
use crate::exec::stores::FoundFile;
use crate::progress::Progress;
use crate::tokens;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Maximum text of a file in the index, in bytes: 32 such files fill the index.
pub const MAX_FILE_TEXT: usize = 256 << 20;
/// Maximum text of all files in the index, in bytes. Every search reads files beyond the limits again. Chosen: more
/// than years of sessions of one person, and a bound for the space on the disk that the index takes without asking
/// again.
pub const MAX_TEXT: u64 = 8 << 30;

/// Limits of the text in the index, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextLimits {
    /// Maximum of a file.
    pub(super) file: usize,
    /// Maximum of all files.
    pub(super) all: u64,
}

/// The limits outside tests.
const LIMITS: TextLimits = TextLimits { file: MAX_FILE_TEXT, all: MAX_TEXT };

/// Maximum number of files that are read at once. They are one transaction: what was read is kept if the user cancels.
const MAX_BATCH: usize = 16;
/// Maximum bytes of files that are read at once, except for one larger file. A parsed session takes a few times its
/// size in memory.
const MAX_BATCH_BYTES: u64 = 64 << 20;

/// Result of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexUpdate {
    /// Files that were read.
    pub n_read: usize,
    /// Files that were removed since they no longer exist.
    pub n_removed: usize,
}

/// Size and maximum size of the text of all files in the index, in bytes.
struct TextBudget {
    used: u64,
    max: u64,
}

/// A file to read, with its key and stamp.
struct FileToRead {
    path: PathBuf,
    bytes: u64,
    key: String,
    stamp: String,
}

/// A file that was read.
struct ReadFile {
    key: String,
    stamp: String,
    /// `None` if reading was cancelled.
    content: Option<NewContent>,
}

/// Returns the name of a file in the index: its absolute path, if it is Unicode.
pub(super) fn key(path: &Path) -> Option<String> {
    std::path::absolute(path).ok()?.to_str().map(str::to_owned)
}

impl Index {
    /// Adds new files, reads changed ones again, and removes all files that no longer exist. Adds a file that was left
    /// out once it fits. Rebuilds a damaged index. `progress` counts the files to read. Blocks.
    ///
    /// # Errors
    /// Returns an [`IndexError`] if `progress` is cancelled or the index cannot be written. Files written by then are kept.
    pub fn update(
        &mut self,
        files: &[FoundFile],
        progress: &Progress,
    ) -> Result<IndexUpdate, IndexError> {
        self.update_within(LIMITS, files, progress)
    }

    /// Updates the index like [`Self::update`], with other limits.
    pub(super) fn update_within(
        &mut self,
        limits: TextLimits,
        files: &[FoundFile],
        progress: &Progress,
    ) -> Result<IndexUpdate, IndexError> {
        match self.try_update(limits, files, progress) {
            Err(error) if error.is_repairable() => {
                self.rebuild()?;
                self.try_update(limits, files, progress)
            }
            updated => updated,
        }
    }

    /// Replaces the database by an empty one.
    ///
    /// # Errors
    /// Returns [`IndexError::Off`] if the user has removed the index.
    pub(crate) fn rebuild(&mut self) -> Result<(), IndexError> {
        // Windows cannot remove an open file.
        self.database.close()?;
        self.folder.replace_with_empty()?;
        *self = self.folder.open()?;
        Ok(())
    }

    fn try_update(
        &mut self,
        limits: TextLimits,
        files: &[FoundFile],
        progress: &Progress,
    ) -> Result<IndexUpdate, IndexError> {
        self.stop_with(progress)?;
        self.files = self.database.files()?;
        let is_gone = |path: &&String| !Path::new(path).exists();
        let gone: Vec<String> = self.files.keys().filter(is_gone).cloned().collect();
        let rows = gone.iter().filter_map(|path| self.files.remove(path));
        let rows: Vec<i64> = rows.map(|file| file.id).collect();
        self.database.remove(&rows)?;
        let changed = self.files_to_read(limits, files, progress)?;
        progress.total.store(changed.len() as u64, Ordering::Relaxed);
        progress.done.store(0, Ordering::Relaxed);
        let result = self.read_and_write(limits, &changed, progress);
        self.files = self.database.files()?;
        result?;
        Ok(IndexUpdate { n_read: changed.len(), n_removed: rows.len() })
    }

    /// Returns new and changed files, then files that were left out and fit now.
    fn files_to_read(
        &self,
        limits: TextLimits,
        files: &[FoundFile],
        progress: &Progress,
    ) -> Result<Vec<FileToRead>, IndexError> {
        let (mut changed, mut fitting) = (Vec::new(), Vec::new());
        let mut free = limits.all.saturating_sub(self.database.text_bytes()?);
        for file in files {
            progress.check_cancelled()?;
            let (Some(key), Some(stamp)) = (key(&file.path), stamp_of(&file.path)) else {
                continue;
            };
            let known = self.files.get(&key);
            let is_changed = known.is_none_or(|known| known.stamp != stamp);
            let left_out = known.and_then(FileRow::left_out_bytes);
            let rest = left_out.and_then(|bytes| free.checked_sub(bytes));
            let list = match rest {
                _ if is_changed => &mut changed,
                Some(rest) => {
                    free = rest;
                    &mut fitting
                }
                None => continue,
            };
            list.push(FileToRead { path: file.path.clone(), bytes: file.size.0, key, stamp });
        }
        changed.append(&mut fitting);
        Ok(changed)
    }

    /// Reads files in batches, and writes each batch while the next one is read.
    fn read_and_write(
        &mut self,
        limits: TextLimits,
        files: &[FileToRead],
        progress: &Progress,
    ) -> Result<(), IndexError> {
        let mut budget = TextBudget { used: self.database.text_bytes()?, max: limits.all };
        let mut previous = Vec::new();
        for batch in batches(files) {
            progress.check_cancelled()?;
            let read = || -> Vec<ReadFile> {
                let files = batch.par_iter().with_max_len(1);
                files.map(|file| read_file(file, limits.file, progress)).collect()
            };
            let files = std::mem::take(&mut previous);
            let write = || self.write(files, &mut budget, progress);
            let (written, read) = rayon::join(write, read);
            written?;
            previous = read;
        }
        self.write(previous, &mut budget, progress)?;
        Ok(progress.check_cancelled()?)
    }

    /// Writes the content of files, or their size only if the text exceeds the budget.
    fn write(
        &mut self,
        files: Vec<ReadFile>,
        budget: &mut TextBudget,
        progress: &Progress,
    ) -> Result<(), IndexError> {
        for file in files {
            let Some(mut content) = file.content else {
                continue;
            };
            let bytes = content.text_bytes();
            let replaced = self.files.get(&file.key).map_or(0, FileRow::indexed_bytes);
            let others = budget.used.saturating_sub(replaced);
            budget.used = others + bytes;
            if budget.used > budget.max {
                budget.used = others;
                content = NewContent::LeftOut { bytes: Some(bytes) };
            }
            self.database.replace(&file.key, &file.stamp, &content)?;
            progress.advance(1);
        }
        Ok(())
    }
}

/// Divides files into batches of bounded size.
fn batches(files: &[FileToRead]) -> impl Iterator<Item = &[FileToRead]> {
    let mut rest = files;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let is_within = |file: &&FileToRead| {
            bytes += file.bytes;
            bytes <= MAX_BATCH_BYTES
        };
        let n = rest.iter().take(MAX_BATCH).take_while(is_within).count();
        let (batch, others) = rest.split_at(n.max(1).min(rest.len()));
        rest = others;
        (!batch.is_empty()).then_some(batch)
    })
}

fn read_file(file: &FileToRead, most: usize, progress: &Progress) -> ReadFile {
    // `progress` counts files, not the bytes of this one.
    let file_progress = progress.with_same_cancellation();
    let content = content(&file.path, most, &file_progress);
    ReadFile {
        key: file.key.clone(),
        stamp: file.stamp.clone(),
        content: (!progress.is_cancelled()).then_some(content),
    }
}

/// Reads a file, unless it has more than `most` bytes of text.
fn content(path: &Path, most: usize, progress: &Progress) -> NewContent {
    let sessions = match FileSessions::open(path, progress) {
        Ok(sessions) => sessions,
        Err(error) => return NewContent::Unreadable(error.to_string()),
    };
    let (mut all, mut left, mut problem) = (Vec::new(), most, None);
    for number in sessions.numbers() {
        match new_session(&sessions, *number, &mut left, progress) {
            Ok(Some(session)) => all.push(session),
            Ok(None) => return NewContent::LeftOut { bytes: None },
            Err(why) => problem = problem.or(Some(why)),
        }
    }
    match problem.filter(|_| all.is_empty()) {
        Some(problem) => NewContent::Unreadable(problem),
        None => NewContent::Sessions(all),
    }
}

/// Prepares a session; `None` if its text exceeds the `left` bytes.
fn new_session(
    sessions: &FileSessions,
    number: usize,
    left: &mut usize,
    progress: &Progress,
) -> Result<Option<NewSession>, String> {
    let options =
        LoadOptions { counter: tokens::default_counter(), window: None, conversation: number };
    let case = sessions.case(number, &options, progress);
    let case = case.map_err(|error| error.to_string())?;
    let mut messages = Vec::with_capacity(case.session.messages.len());
    for index in 0..case.session.messages.len() {
        let subject = QuerySubject::new(&case.session, Some(&case.ledger), index);
        let text = stored::indexed_text(&subject);
        match left.checked_sub(text.len()) {
            Some(rest) => *left = rest,
            None => return Ok(None),
        }
        messages
            .push(NewMessage { data: stored::encode(&subject), text: folded(&text).into_owned() });
    }
    Ok(Some(NewSession { head: StoredSession::new(sessions, number, &case.session), messages }))
}
