//! Cached usage: a session file that has not changed is not read again.

use super::cache_file::{FileKey, file_key, path_of, remove};
use super::{FileUsage, FoundFile};
use crate::exec::files::{read_bounded, replace_private};
use crate::exec::state::State;
use crate::presets::models;
use crate::presets::prices::Prices;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// Version of the cached usage, increased when that of the same file changes.
const USAGE_VERSION: u32 = 3;

/// Maximum size of the cache file, in bytes. A call takes about 50, so these are 20 million calls.
const MAX_BYTES: u64 = 1 << 30;

/// Usage of session files by path.
#[derive(Clone, Debug, Default)]
pub struct UsageCache {
    /// The cache file; `None` with `--no-state`.
    path: Option<PathBuf>,
    files: HashMap<String, CachedUsage>,
    is_changed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct CachedUsage {
    key: FileKey,
    usage: Arc<FileUsage>,
}

/// Content of the cache file.
#[derive(Serialize, Deserialize)]
struct UsageFile {
    /// Versions of what the usage depends on. Others may read, count or price a file differently.
    version: String,
    files: HashMap<String, CachedUsage>,
}

impl UsageCache {
    /// Reads the cache next to the program's state; empty if the file is missing or unreadable.
    pub fn load() -> Self {
        let path = Self::path();
        let read = path.as_deref().and_then(|path| read_bounded(path, MAX_BYTES).ok());
        let kept = read.and_then(|bytes| postcard::from_bytes::<UsageFile>(&bytes).ok());
        let kept = kept.filter(|kept| kept.version == version());
        Self { path, files: kept.map(|kept| kept.files).unwrap_or_default(), is_changed: false }
    }

    fn path() -> Option<PathBuf> {
        Some(State::path()?.with_file_name("usage.bin"))
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

    /// Returns the usage of an unchanged file, or of the session with this id and version in a file with several.
    pub(super) fn get(
        &self,
        found: &FoundFile,
        (id, version): (&str, u64),
    ) -> Option<Arc<FileUsage>> {
        let (path, key) = file_key(found, id, version)?;
        let known = self.files.get(&path)?;
        (known.key == key).then(|| Arc::clone(&known.usage))
    }

    pub(super) fn put(
        &mut self,
        found: &FoundFile,
        (id, version): (&str, u64),
        usage: &Arc<FileUsage>,
    ) {
        if let Some((path, key)) = file_key(found, id, version) {
            self.is_changed = true;
            self.files.insert(path, CachedUsage { key, usage: Arc::clone(usage) });
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
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let kept = UsageFile { version: version(), files: std::mem::take(&mut self.files) };
        let bytes = postcard::to_allocvec(&kept).map_err(io::Error::other);
        self.files = kept.files;
        let bytes = bytes?;
        // A larger file would not be read.
        if bytes.len() as u64 <= MAX_BYTES {
            replace_private(&path, &bytes)?;
        }
        self.is_changed = false;
        Ok(())
    }
}

/// Returns the versions of the program, of its usage, and of the tables of context windows and prices.
fn version() -> String {
    let program = env!("CARGO_PKG_VERSION");
    let (windows, prices) = (models::fingerprint(), Prices::in_use().fingerprint());
    format!("{program}/{USAGE_VERSION}/{windows:x}/{prices:x}")
}
