//! A copy of a database in a private folder, with its write-ahead log. `SQLite` never opens the original, since it
//! locks and cleans up the files that it opens.
//!
//! The log's index (`-shm`) is not copied: `SQLite` rebuilds it. The journal of an interrupted write (`-journal`) is
//! not copied either: a malicious one names other files, which `SQLite` would delete.

use crate::exec::files::unfinished::TemporaryFolder;
use crate::exec::files::{LoadError, MAX_SESSION_BYTES, unpacked};
use crate::progress::Progress;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of attempts to copy a database while it is being written. An agent writes once per message, so a
/// second copy nearly always succeeds. After the last one, the copy is read as it is, with a warning.
const MAX_ATTEMPTS: usize = 3;
/// Bytes that are copied between two checks for cancellation: 0.2 s of a disk with 80 MB/s.
const CHUNK: u64 = 16 << 20;
/// Length of a log's header in bytes (<https://www.sqlite.org/fileformat2.html#walformat>). The header changes when the
/// log is restarted.
const LOG_HEADER: usize = 32;
/// Range of the database header with the format versions for writing and reading
/// (<https://www.sqlite.org/fileformat2.html#the_database_header>). Both are 2 for a database with a write-ahead log.
const FORMAT_VERSIONS: Range<usize> = 18..20;
/// Warning about a log of another database.
pub(super) const FOREIGN_LOG: &str =
    "the write-ahead log (-wal) belongs to another database and was ignored";

/// A copy that is removed on drop.
#[derive(Debug)]
pub(super) struct DatabaseCopy {
    folder: TemporaryFolder,
    /// Size of the copy and its log in bytes.
    pub(super) bytes: u64,
    /// The log was copied.
    pub(super) has_log: bool,
    /// Problems with the copy.
    pub(super) warnings: Vec<String>,
}

impl DatabaseCopy {
    /// Copies a database.
    ///
    /// # Errors
    /// Returns a [`LoadError`] if the database or its log cannot be read or copied, is too large, or `progress` is
    /// cancelled.
    pub(super) fn new(path: &Path, progress: &Progress) -> Result<Self, LoadError> {
        let shown = path.display().to_string();
        let unreadable = |error: io::Error| LoadError::unreadable(&shown, &error);
        // Like SQLite, look for the log next to the file itself, not next to a link to it.
        let real = path.canonicalize().map_err(unreadable)?;
        let folder = TemporaryFolder::new().map_err(|error| {
            LoadError(format!(
                "{shown}: cannot create a temporary folder for a copy ({error}); set {}",
                TemporaryFolder::VARIABLE
            ))
        })?;
        let mut copy = Self { folder, bytes: 0, has_log: false, warnings: Vec::new() };
        if copy.copy_compressed(path, progress)? {
            return Ok(copy);
        }
        for attempt in 1..=MAX_ATTEMPTS {
            let before = DatabaseState::of(&real).map_err(unreadable)?;
            copy.bytes = before.bytes.saturating_add(before.log_bytes());
            if copy.bytes > MAX_SESSION_BYTES {
                return Err(LoadError::too_large(&shown));
            }
            copy.has_log = before.writes_ahead && before.log.is_some();
            copy.copy_file(&real, "", progress).map_err(unreadable)?;
            if copy.has_log {
                copy.copy_file(&real, "-wal", progress).map_err(unreadable)?;
            }
            progress
                .check_cancelled()
                .map_err(|cancelled| LoadError::cancelled(&shown, cancelled))?;
            let after = DatabaseState::of(&real).map_err(unreadable)?;
            if after.is_consistent_with(&before) {
                break;
            }
            if attempt == MAX_ATTEMPTS {
                let text = "it changed while it was read; the latest data may be missing";
                copy.warnings.push(text.to_owned());
            }
        }
        copy.warn_of_ignored_files(&real).map_err(unreadable)?;
        Ok(copy)
    }

    /// Returns the path of the copy.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("copy")
    }

    /// Removes the log from the copy.
    pub(super) fn remove_log(&mut self) -> io::Result<()> {
        self.has_log = false;
        for suffix in ["-wal", "-shm"] {
            match fs::remove_file(with_suffix(&self.path(), suffix)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Copies a compressed database, which has no log. Returns false if the file is not compressed.
    fn copy_compressed(&mut self, path: &Path, progress: &Progress) -> Result<bool, LoadError> {
        let shown = path.display().to_string();
        let failed = |error: io::Error| LoadError(format!("cannot decompress {shown} ({error})"));
        let mut from = File::open(path).and_then(unpacked).map_err(failed)?;
        if !from.was_packed {
            return Ok(false);
        }
        let mut to = File::create(self.path()).map_err(failed)?;
        loop {
            progress
                .check_cancelled()
                .map_err(|cancelled| LoadError::cancelled(&shown, cancelled))?;
            let n = io::copy(&mut from.bytes.by_ref().take(CHUNK), &mut to).map_err(failed)?;
            self.bytes += n;
            if self.bytes > MAX_SESSION_BYTES {
                return Err(LoadError::too_large(&shown));
            }
            if n == 0 {
                return Ok(true);
            }
        }
    }

    /// Copies the database, or a file next to it, unless cancelled.
    fn copy_file(&self, real: &Path, suffix: &str, progress: &Progress) -> io::Result<()> {
        let mut from = File::open(with_suffix(real, suffix))?.take(MAX_SESSION_BYTES);
        let mut to = File::create(with_suffix(&self.path(), suffix))?;
        while io::copy(&mut from.by_ref().take(CHUNK), &mut to)? > 0 && !progress.is_cancelled() {}
        Ok(())
    }

    /// Warns of files next to the database that were not copied.
    fn warn_of_ignored_files(&mut self, real: &Path) -> io::Result<()> {
        let state = DatabaseState::of(real)?;
        if state.log_bytes() > 0 && !state.writes_ahead {
            self.warnings.push(FOREIGN_LOG.to_owned());
        }
        let journal = fs::metadata(with_suffix(real, "-journal"));
        if journal.is_ok_and(|journal| journal.len() > 0) && !state.writes_ahead {
            let text = "a write is in progress or was interrupted (-journal); the latest data may be incomplete";
            self.warnings.push(text.to_owned());
        }
        Ok(())
    }
}

/// Size, time and log of a database at one moment.
struct DatabaseState {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The database uses a write-ahead log.
    writes_ahead: bool,
    log: Option<LogState>,
}

/// Size and header of the log next to a database.
struct LogState {
    bytes: u64,
    header: Vec<u8>,
}

impl DatabaseState {
    fn of(real: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(real)?;
        let log = with_suffix(real, "-wal");
        let log = match fs::symlink_metadata(&log) {
            Ok(found) if found.is_file() => {
                Some(LogState { bytes: found.len(), header: first_bytes(&log, LOG_HEADER)? })
            }
            _ => None,
        };
        let header = first_bytes(real, FORMAT_VERSIONS.end)?;
        Ok(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            writes_ahead: header.get(FORMAT_VERSIONS) == Some(&[2, 2]),
            log,
        })
    }

    fn log_bytes(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.bytes)
    }

    /// Returns true if a copy made between two states is consistent: the database did not change, and the log at most
    /// grew.
    fn is_consistent_with(&self, before: &Self) -> bool {
        let is_same_log = match (&self.log, &before.log) {
            (Some(now), Some(before)) => now.header == before.header,
            (now, before) => now.is_none() && before.is_none(),
        };
        self.bytes == before.bytes && self.modified == before.modified && is_same_log
    }
}

fn first_bytes(path: &Path, n: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(n);
    File::open(path)?.take(n as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
