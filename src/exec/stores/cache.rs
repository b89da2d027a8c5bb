//! What was read of session files before: a file that has not changed is not read again.

use super::summary::READING;
use super::{Found, SessionSummary};
use crate::exec::State;
use crate::exec::load::read_bounded;
use crate::exec::place::replace_private;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Bytes of what is kept; a file that was read takes a few hundred.
const LONGEST: u64 = 256 << 20;

/// What is known of session files, by path.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// Where it is kept; nowhere with `--no-state`.
    path: Option<PathBuf>,
    files: HashMap<String, Known>,
    has_news: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    bytes: u64,
    /// When it was written, nanoseconds since 1970.
    modified: u64,
    summary: Result<SessionSummary, String>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Another version may read a file differently, or weigh it so.
    version: String,
    files: HashMap<String, Known>,
}

impl Cache {
    /// What an earlier run left, beside the program's state; nothing where there is none or it cannot be read.
    pub fn load() -> Self {
        let path = Self::path();
        let read = path
            .as_deref()
            .and_then(|path| read_bounded(path, LONGEST).ok());
        let kept = read.and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        let kept = kept.filter(|kept| kept.version == version());
        Self {
            path,
            files: kept.map(|kept| kept.files).unwrap_or_default(),
            has_news: false,
        }
    }

    fn path() -> Option<PathBuf> {
        Some(State::path()?.with_file_name("sessions.json"))
    }

    /// The file, if anything is kept.
    pub fn kept() -> Option<PathBuf> {
        Self::path().filter(|path| path.exists())
    }

    /// Removes what is kept; false where nothing was.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn clear() -> io::Result<bool> {
        match Self::path().map(fs::remove_file) {
            Some(Ok(())) => Ok(true),
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(false),
        }
    }

    /// What is known of a file, or of the session of this id in it where it holds many.
    pub(super) fn get(&self, found: &Found, id: &str) -> Option<&Result<SessionSummary, String>> {
        let known = self.files.get(&key(found, id)?)?;
        let is_it = known.bytes == found.size.0 && Some(known.modified) == nanos(found);
        is_it.then_some(&known.summary)
    }

    pub(super) fn put(
        &mut self,
        found: &Found,
        id: &str,
        summary: &Result<SessionSummary, String>,
    ) {
        if let (Some(key), Some(modified)) = (key(found, id), nanos(found)) {
            self.has_news = true;
            let known = Known {
                bytes: found.size.0,
                modified,
                summary: summary.clone(),
            };
            self.files.insert(key, known);
        }
    }

    /// Writes what is new; files that are gone are forgotten.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn save(&mut self) -> io::Result<()> {
        let Some(path) = self.path.clone().filter(|_| self.has_news) else {
            return Ok(());
        };
        self.files.retain(|key, _| Path::new(path_of(key)).exists());
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let kept = Kept {
            version: version(),
            files: self.files.clone(),
        };
        replace_private(&path, &serde_json::to_vec(&kept)?)?;
        self.has_news = false;
        Ok(())
    }
}

/// The program's version, and which way of reading it has by now.
fn version() -> String {
    format!("{}/{READING}", env!("CARGO_PKG_VERSION"))
}

/// A path, and behind it on a line of its own the id of one of many sessions.
fn key(found: &Found, id: &str) -> Option<String> {
    let path = found.path.to_str()?;
    Some(match id {
        "" => path.to_owned(),
        id => format!("{path}\n{id}"),
    })
}

fn path_of(key: &str) -> &str {
    key.split_once('\n').map_or(key, |(path, _)| path)
}

fn nanos(found: &Found) -> Option<u64> {
    let since = found.modified?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
