//! Record of the entries that an installation inserted into each settings file, so that an uninstallation restores the file byte for byte. The
//! record contains positions, not text: settings may contain keys.

use crate::exec::files::{
    create_private_folder, parent_folder, read_bounded, replace_private, sha256,
};
use crate::exec::hooks::location::folder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// An installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// SHA-256 of the file after the installation.
    sha256: String,
    /// The bytes that were inserted, ascending.
    pub(super) inserted: Vec<Range<usize>>,
    /// Whether the file did not exist before.
    pub(super) is_new: bool,
}

impl Record {
    pub(super) fn new(text: &str, inserted: Vec<Range<usize>>, is_new: bool) -> Self {
        Self { sha256: sha256(text.as_bytes()), inserted, is_new }
    }

    /// Returns whether the file is as the installation left it.
    pub(super) fn is_of(&self, text: &str) -> bool {
        self.sha256 == sha256(text.as_bytes())
    }
}

/// Returns the record of a settings file.
pub(super) fn of(settings: &Path) -> Option<Record> {
    all(&path()?).remove(&key(settings))
}

/// Replaces or removes the record of a settings file.
///
/// # Errors
/// Returns an error if the records cannot be written.
pub(super) fn set(settings: &Path, record: Option<Record>) -> io::Result<()> {
    let Some(path) = path() else {
        return Ok(());
    };
    let mut records = all(&path);
    let is_changed = match record {
        Some(record) => records.insert(key(settings), record.clone()) != Some(record),
        None => records.remove(&key(settings)).is_some(),
    };
    if !is_changed {
        return Ok(());
    }
    if records.is_empty() {
        return fs::remove_file(&path);
    }
    create_private_folder(parent_folder(&path))?;
    replace_private(&path, &serde_json::to_vec_pretty(&records)?)
}

fn all(path: &Path) -> BTreeMap<String, Record> {
    let bytes = read_bounded(path, MAX_BYTES).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn key(settings: &Path) -> String {
    settings.to_string_lossy().into_owned()
}

/// Returns the path of the records; `None` without a home folder.
pub(in super::super) fn path() -> Option<PathBuf> {
    Some(folder()?.join("installed.json"))
}
