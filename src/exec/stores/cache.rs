//! Cached summaries of session files. A file that has not changed is not read again.

use super::cache_file::{FileKey, file_key, path_of, remove};
use super::summary::SUMMARY_VERSION;
use super::{FoundFile, SessionSummary};
use crate::exec::files::{read_bounded, replace_private};
use crate::exec::state::State;
use crate::presets::models;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
        remove(Self::path())
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
        let bytes = serde_json::to_vec(&kept)?;
        // A larger file would not be read.
        if bytes.len() as u64 <= MAX_BYTES {
            replace_private(&path, &bytes)?;
        }
        self.is_changed = false;
        Ok(())
    }
}

/// Returns the version of the program, of its summaries and of the table of context windows.
fn version() -> String {
    let program = env!("CARGO_PKG_VERSION");
    format!("{program}/{SUMMARY_VERSION}/{:x}", models::fingerprint())
}
