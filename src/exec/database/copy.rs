//! A copy of a database in a folder of our own, with what its program wrote last and has not put in place yet (the
//! write-ahead log). The original is never opened with `SQLite`, which locks and tidies up what it opens.
//!
//! The log's index (`-shm`) is not copied: `SQLite` makes it anew of the log. Nor is the journal of a write that was broken
//! off (`-journal`): one made for harm names other files, which `SQLite` would take away.

use super::leftover::{COPY, Folder};
use crate::exec::load::{LoadError, MOST_BYTES};
use crate::exec::unpack::unpacked;
use crate::progress::Progress;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How often a database is copied that is written to at the same moment.
const TRIES: usize = 3;
/// Copied at a time, between looks at whether to stop.
const CHUNK: u64 = 16 << 20;
/// Bytes of a log's head, which is another one once the log begins anew.
const LOG_HEAD: usize = 32;

/// A copy; it is taken away with this.
#[derive(Debug)]
pub(super) struct Copied {
    folder: Folder,
    /// Bytes of it, the log included.
    pub(super) bytes: u64,
    /// It came with a log.
    pub(super) has_log: bool,
    /// What may be amiss with it.
    pub(super) warnings: Vec<String>,
}

impl Copied {
    /// Copies a database.
    ///
    /// # Errors
    /// When it or its log cannot be read or copied, is too large, or `progress` says to stop.
    pub(super) fn of(path: &Path, progress: &Progress) -> Result<Self, LoadError> {
        let unread =
            |error: io::Error| LoadError(format!("{} cannot be read ({error})", path.display()));
        // SQLite's own rule: the log lies beside the file itself, not beside a link to it.
        let real = path.canonicalize().map_err(unread)?;
        let mut copied = Self::new(path)?;
        if copied.unpack(path, progress)? {
            return Ok(copied);
        }
        for n in 1..=TRIES {
            let before = State::of(&real).map_err(unread)?;
            copied.refuse_large(path, &before)?;
            copied.has_log = before.writes_ahead && before.log.is_some();
            copied.take(&real, "", progress).map_err(unread)?;
            if copied.has_log {
                copied.take(&real, "-wal", progress).map_err(unread)?;
            }
            progress
                .go_on()
                .map_err(|cancelled| LoadError(format!("{}: {cancelled}", path.display())))?;
            if State::of(&real).map_err(unread)?.goes_with(&before) {
                break;
            }
            if n == TRIES {
                let text = "it changed while it was read; the latest data may be missing";
                copied.warnings.push(text.to_owned());
            }
        }
        copied.look_beside(&real).map_err(unread)?;
        Ok(copied)
    }

    fn new(path: &Path) -> Result<Self, LoadError> {
        let folder = Folder::new().map_err(|error| {
            LoadError(format!(
                "{}: no folder for a copy of it can be made ({error})",
                path.display()
            ))
        })?;
        Ok(Self {
            folder,
            bytes: 0,
            has_log: false,
            warnings: Vec::new(),
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(COPY)
    }

    /// Leaves the log out.
    pub(super) fn without_log(&mut self) -> io::Result<()> {
        self.has_log = false;
        for end in ["-wal", "-shm"] {
            match fs::remove_file(beside(&self.path(), end)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Unpacks one that is compressed; false where it is not. There is no log that goes with it.
    fn unpack(&mut self, path: &Path, progress: &Progress) -> Result<bool, LoadError> {
        let shown = path.display();
        let unread = |error: io::Error| LoadError(format!("{shown} cannot be unpacked ({error})"));
        let mut from = File::open(path).and_then(unpacked).map_err(unread)?;
        if !from.was_packed {
            return Ok(false);
        }
        let mut to = File::create(self.path()).map_err(unread)?;
        loop {
            progress
                .go_on()
                .map_err(|cancelled| LoadError(format!("{shown}: {cancelled}")))?;
            let n = io::copy(&mut from.bytes.by_ref().take(CHUNK), &mut to).map_err(unread)?;
            self.bytes += n;
            if self.bytes > MOST_BYTES {
                return Err(too_large(path));
            }
            if n == 0 {
                return Ok(true);
            }
        }
    }

    fn refuse_large(&mut self, path: &Path, state: &State) -> Result<(), LoadError> {
        let log = state.log.as_ref().map_or(0, |(bytes, _)| *bytes);
        self.bytes = state.bytes.saturating_add(log);
        if self.bytes > MOST_BYTES {
            return Err(too_large(path));
        }
        Ok(())
    }

    /// Copies the file itself or what stands beside it; stops where it is told to.
    fn take(&self, real: &Path, end: &str, progress: &Progress) -> io::Result<()> {
        let mut from = File::open(beside(real, end))?.take(MOST_BYTES);
        let mut to = File::create(beside(&self.path(), end))?;
        while io::copy(&mut from.by_ref().take(CHUNK), &mut to)? > 0 && !progress.is_cancelled() {}
        Ok(())
    }

    /// What stands beside it and was not taken along.
    fn look_beside(&mut self, real: &Path) -> io::Result<()> {
        let state = State::of(real)?;
        if state.log.is_some_and(|(bytes, _)| bytes > 0) && !state.writes_ahead {
            let text = "the write-ahead log (-wal) belongs to another database and was ignored";
            self.warnings.push(text.to_owned());
        }
        let journal = fs::metadata(beside(real, "-journal"));
        if journal.is_ok_and(|journal| journal.len() > 0) && !state.writes_ahead {
            let text = "a write is in progress or was interrupted (-journal); the latest data may be incomplete";
            self.warnings.push(text.to_owned());
        }
        Ok(())
    }
}

fn too_large(path: &Path) -> LoadError {
    LoadError(format!(
        "{} is larger than the limit of {} GiB",
        path.display(),
        MOST_BYTES >> 30
    ))
}

/// A database as it is at a moment.
#[derive(PartialEq)]
struct State {
    bytes: u64,
    modified: Option<SystemTime>,
    /// It is written to by way of a log.
    writes_ahead: bool,
    /// The log beside it: its size and its head.
    log: Option<(u64, Vec<u8>)>,
}

impl State {
    fn of(real: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(real)?;
        let head = head(real, 20)?;
        let log = beside(real, "-wal");
        let log = match fs::symlink_metadata(&log) {
            Ok(found) if found.is_file() => Some((found.len(), self::head(&log, LOG_HEAD)?)),
            _ => None,
        };
        Ok(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            // The versions needed to write and to read it.
            writes_ahead: head.get(18..20) == Some(&[2, 2]),
            log,
        })
    }

    /// What was copied in between is of one piece: nothing was put in place, and the log has at most grown.
    fn goes_with(&self, before: &Self) -> bool {
        let head = |state: &Self| state.log.as_ref().map(|(_, head)| head.clone());
        self.bytes == before.bytes && self.modified == before.modified && head(self) == head(before)
    }
}

fn head(path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(bytes);
    File::open(path)?
        .take(bytes as u64)
        .read_to_end(&mut head)?;
    Ok(head)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
