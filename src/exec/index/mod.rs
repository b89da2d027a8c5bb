//! A full-text index of sessions, so that a search does not read their files again.
//!
//! It exists only after the user switched it on, since it contains the text of the sessions. Only the user can read it.
//! It narrows a search to messages that may match; [`crate::analysis::query`] decides. A file that is not in the index
//! is read, so results are the same with and without it.

mod database;
mod narrow;
mod stored;
mod update;

pub(super) use stored::StoredSession;
pub use update::{IndexUpdate, MAX_FILE_TEXT, MAX_TEXT};

use super::files::{create_private_file, create_private_folder};
use super::state::State;
use crate::analysis::query::{Query, QuerySubject};
use crate::progress::{Cancelled, Progress};
use database::{FileRow, IndexDatabase};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use stored::RestoredMessage;

/// Name of the database file.
const FILE: &str = "sessions.db";

/// The folder of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexFolder {
    /// `None` if no index is used.
    folder: Option<PathBuf>,
}

/// Reason why the index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The data is damaged.
    #[error("the index is damaged")]
    Damaged,
    /// Another version of the program built it.
    #[error("another version of the program built the index")]
    OtherVersion,
    /// It is not switched on.
    #[error("the index is off; `plimsoll state enable index` switches it on")]
    Off,
    /// A file cannot be created or removed.
    #[error("the index cannot be written ({0})")]
    File(#[from] io::Error),
    /// The database failed.
    #[error("the index cannot be used ({0})")]
    Database(rusqlite::Error),
}

impl From<Cancelled> for IndexError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(Code::OperationInterrupted) => Self::Cancelled,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Damaged,
            _ => Self::Database(error),
        }
    }
}

impl IndexError {
    /// Returns whether building the index anew may help.
    pub(super) fn is_repairable(&self) -> bool {
        let is_other = |error: &rusqlite::Error| {
            // Missing tables and values of another type.
            let code = error.sqlite_error_code();
            code.is_none_or(|code| code == rusqlite::ErrorCode::Unknown)
        };
        match self {
            Self::Damaged | Self::OtherVersion => true,
            Self::Database(error) => is_other(error),
            Self::Cancelled | Self::Off | Self::File(_) => false,
        }
    }
}

impl IndexFolder {
    /// Returns the folder in the data folder of the user.
    pub fn here() -> Self {
        Self { folder: State::path().map(|state| state.with_file_name("index")) }
    }

    /// Returns an index in a folder, which need not exist.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// Returns the path of the database; `None` if no index is used.
    pub fn path(&self) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(FILE))
    }

    /// Returns whether the user switched it on.
    pub fn is_on(&self) -> bool {
        self.path().is_some_and(|path| path.is_file())
    }

    /// Returns the size of its files in bytes.
    pub fn bytes(&self) -> u64 {
        let files = self.files().into_iter();
        let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        sizes.sum()
    }

    /// Switches it on: creates an empty database that only the user can read.
    ///
    /// # Errors
    /// Returns an error if there is no data folder or it cannot be written.
    pub fn switch_on(&self) -> io::Result<()> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no home folder");
        let folder = self.folder.as_ref().ok_or_else(missing)?;
        create_private_folder(folder)?;
        // `SQLite` gives its journals the same permissions.
        match create_private_file(&folder.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes it, which also switches it off. Returns false if there was none.
    ///
    /// # Errors
    /// Returns an error if a file cannot be removed.
    pub fn clear(&self) -> io::Result<bool> {
        let was_on = self.is_on();
        for file in self.files() {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        if let Some(folder) = &self.folder {
            // Other files stay, and so does their folder.
            let _ = fs::remove_dir(folder);
        }
        Ok(was_on)
    }

    /// Opens it. A damaged index, or one of another version, is built anew.
    ///
    /// # Errors
    /// Returns an [`IndexError`] if it is off or cannot be opened.
    pub fn open(&self) -> Result<Index, IndexError> {
        let path = self.path().filter(|path| path.is_file());
        let path = path.ok_or(IndexError::Off)?;
        make_private(&path)?;
        let database = match IndexDatabase::open(&path) {
            Err(error) if error.is_repairable() => {
                self.replace_with_empty()?;
                IndexDatabase::open(&path)?
            }
            opened => opened?,
        };
        Ok(Index { folder: self.clone(), database, files: HashMap::new() })
    }

    /// Replaces the database by an empty one, unless the user removed it.
    fn replace_with_empty(&self) -> Result<(), IndexError> {
        if !self.clear()? {
            return Err(IndexError::Off);
        }
        Ok(self.switch_on()?)
    }

    /// Returns the paths of the files that a database may have.
    fn files(&self) -> Vec<PathBuf> {
        let Some(folder) = &self.folder else {
            return Vec::new();
        };
        let suffixes = ["", "-wal", "-shm", "-journal"];
        let names = suffixes.map(|suffix| format!("{FILE}{suffix}"));
        names.iter().map(|name| folder.join(name)).collect()
    }
}

/// An open index.
#[derive(Debug)]
pub struct Index {
    folder: IndexFolder,
    database: IndexDatabase,
    /// Files as of the last update.
    files: HashMap<String, FileRow>,
}

/// Content of the index for a file.
pub(super) enum IndexedFile {
    /// Its sessions.
    Sessions(Vec<IndexedSession>),
    /// Reason why it cannot be opened.
    Unreadable(String),
}

/// A session in the index.
pub(super) struct IndexedSession {
    pub(super) head: StoredSession,
    /// Ids of its first message and the one after its last.
    ids: (i64, i64),
}

/// The messages that may match a query, by id; all if `None`.
pub(super) struct Candidates(Option<Vec<i64>>);

impl Index {
    /// Returns the number of sessions in the index.
    ///
    /// # Errors
    /// Returns an [`IndexError`] if it cannot be read.
    pub fn n_sessions(&self) -> Result<usize, IndexError> {
        self.database.n_sessions()
    }

    /// Returns the content for a file as of the last update; `None` if the file is not in the index.
    pub(super) fn file(&self, path: &Path) -> Result<Option<IndexedFile>, IndexError> {
        let file = update::key(path).and_then(|path| self.files.get(&path));
        let Some(file) = file.filter(|file| !file.is_left_out) else {
            return Ok(None);
        };
        if let Some(problem) = &file.problem {
            return Ok(Some(IndexedFile::Unreadable(problem.clone())));
        }
        let sessions = self.database.sessions(file.id)?.into_iter();
        let sessions = sessions
            .map(|row| IndexedSession { head: row.head, ids: (row.first, row.first + row.n) });
        Ok(Some(IndexedFile::Sessions(sessions.collect())))
    }

    /// Returns the messages that may match a query.
    pub(super) fn candidates(&self, query: &Query) -> Result<Candidates, IndexError> {
        let expression = narrow::expression(query);
        let ids = expression.map(|expression| self.database.matching(&expression));
        Ok(Candidates(ids.transpose()?))
    }

    /// Passes the messages of a session that may match to `on_message`, in order.
    pub(super) fn messages(
        &self,
        session: &IndexedSession,
        candidates: &Candidates,
        mut on_message: impl FnMut(&QuerySubject<'_>),
    ) -> Result<(), IndexError> {
        let (start, end) = session.ids;
        let decoded = |data: &[u8]| {
            let message = RestoredMessage::decode(data).ok_or(IndexError::Damaged)?;
            on_message(&message.subject());
            Ok(())
        };
        match &candidates.0 {
            None => self.database.messages(start..end, decoded),
            Some(ids) => {
                let from = ids.partition_point(|id| *id < start);
                let ids = ids[from..].iter().copied();
                self.database.messages(ids.take_while(|id| *id < end), decoded)
            }
        }
    }

    /// Stops its work once `progress` is cancelled.
    pub(super) fn stop_with(&mut self, progress: &Progress) -> Result<(), IndexError> {
        self.database.stop_with(progress)
    }
}

/// Removes the permissions of others.
fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    let _ = path;
    Ok(())
}

#[cfg(test)]
mod tests;
