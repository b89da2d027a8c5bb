//! Names and states of the files in a cache.

use super::FoundFile;
use crate::exec::files::unfinished::is_temporary;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};

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

/// Removes a cache file. Returns false if there was none.
pub(super) fn remove(path: Option<PathBuf>) -> io::Result<bool> {
    match path.map(fs::remove_file) {
        Some(Ok(())) => Ok(true),
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(false),
    }
}

/// Returns the name of a file in a cache, which is its path and after a newline the id of a session in it, and its state.
/// Temporary files have none.
pub(super) fn file_key(found: &FoundFile, id: &str, version: u64) -> Option<(String, FileKey)> {
    // A file of an archive has another path in every run.
    // Another run may be in another folder.
    let path = std::path::absolute(&found.path).ok()?;
    let path = path.to_str().filter(|_| !is_temporary(&found.path))?;
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
