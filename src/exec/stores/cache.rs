//! Cached summaries of session files. A file that has not changed is not read again.

use super::summary::SUMMARY_VERSION;
use super::{FoundFile, SessionSummary};
use crate::exec::files::unfinished::is_temporary;
use crate::exec::files::{read_bounded, replace_private};
use crate::exec::state::State;
use crate::presets::models;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Maximum size of the cache file, in bytes. A summary takes a few hundred, and about eleven for each call.
const MAX_BYTES: u64 = 256 << 20;

/// Summaries of session files by path.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// The cache file; `None` with `--no-state`.
    path: Option<PathBuf>,
    files: HashMap<String, CachedSummary>,
    is_changed: bool,
}

/// The summary of a file of this size and time, or of a session in a database.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CachedSummary {
    key: FileKey,
    summary: Result<SessionSummary, String>,
}

/// State of a file whose summary is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileKey {
    bytes: u64,
    /// Modification time in nanoseconds since 1970.
    modified: u64,
    /// Version of a session in a database, see [`crate::formats::DatabaseSession::version`].
    #[serde(default)]
    session_version: u64,
}

/// Content of the cache file.
#[derive(Serialize, Deserialize)]
struct CacheFile {
    /// Version of the program, of the summaries and of the table of context windows. Other versions may read or count a file differently.
    version: String,
    files: HashMap<String, CachedSummary>,
}

impl Cache {
    /// Reads the cache next to the program's state; empty if the file is missing or unreadable.
    pub fn load() -> Self {
        let path = Self::path();
        let read = path.as_deref().and_then(|path| read_bounded(path, MAX_BYTES).ok());
        let kept = read.and_then(|bytes| serde_json::from_slice::<CacheFile>(&bytes).ok());
        let kept = kept.filter(|kept| kept.version == version());
        Self { path, files: kept.map(|kept| kept.files).unwrap_or_default(), is_changed: false }
    }

    fn path() -> Option<PathBuf> {
        Some(State::path()?.with_file_name("sessions.json"))
    }

    /// Returns the cache file if it exists.
    pub fn kept() -> Option<PathBuf> {
        Self::path().filter(|path| path.exists())
    }

    /// Removes the cache file. Returns false if there was none.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    pub fn clear() -> io::Result<bool> {
        Self::remove(Self::path())
    }

    /// Removes a cache file. Returns false if there was none.
    pub(super) fn remove(path: Option<PathBuf>) -> io::Result<bool> {
        match path.map(fs::remove_file) {
            Some(Ok(())) => Ok(true),
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(false),
        }
    }

    /// Returns the summary of an unchanged file, or of the session with this id and version in a file with several.
    pub(super) fn get(
        &self,
        found: &FoundFile,
        (id, version): (&str, u64),
    ) -> Option<&Result<SessionSummary, String>> {
        let (path, key) = file_key(found, id, version)?;
        let known = self.files.get(&path)?;
        (known.key == key).then_some(&known.summary)
    }

    pub(super) fn put(
        &mut self,
        found: &FoundFile,
        (id, version): (&str, u64),
        summary: &Result<SessionSummary, String>,
    ) {
        if let Some((path, key)) = file_key(found, id, version) {
            self.is_changed = true;
            self.files.insert(path, CachedSummary { key, summary: summary.clone() });
        }
    }

    /// Writes a changed cache, without files that no longer exist.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created or written.
    pub fn save(&mut self) -> io::Result<()> {
        let Some(path) = self.path.clone().filter(|_| self.is_changed) else {
            return Ok(());
        };
        self.files.retain(|key, _| path_of(key).exists());
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let kept = CacheFile { version: version(), files: self.files.clone() };
        replace_private(&path, &serde_json::to_vec(&kept)?)?;
        self.is_changed = false;
        Ok(())
    }
}

/// Returns the version of the program, of its summaries and of the table of context windows.
fn version() -> String {
    let program = env!("CARGO_PKG_VERSION");
    format!("{program}/{SUMMARY_VERSION}/{:x}", models::fingerprint())
}

/// Returns the name of a file in a cache, which is its path and after a newline the id of a session in it, and its state.
/// Temporary files have none.
pub(super) fn file_key(found: &FoundFile, id: &str, version: u64) -> Option<(String, FileKey)> {
    // A file of an archive has another path in every run.
    let path = found.path.to_str().filter(|_| !is_temporary(&found.path))?;
    let name = match id {
        "" => path.to_owned(),
        id => format!("{path}\n{id}"),
    };
    let (bytes, modified) = (found.size.0, nanos(found)?);
    Some((name, FileKey { bytes, modified, session_version: version }))
}

/// Returns the path of a file by its name in a cache.
pub(super) fn path_of(name: &str) -> &Path {
    Path::new(name.split_once('\n').map_or(name, |(path, _)| path))
}

fn nanos(found: &FoundFile) -> Option<u64> {
    let modified = found.modified?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(modified.as_nanos()).ok()
}
