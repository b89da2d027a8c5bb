//! The search index: its size, and the command that switches it on.

use crate::cli::args::GlobalOptions;
use crate::cli::output::{clean, counted, grouped, json, note, print, waiting};
use crate::exec::IndexFolder;
use crate::exec::stores::find;
use crate::progress::Progress;
use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// The search index.
#[derive(Serialize, JsonSchema)]
pub(super) struct IndexFile {
    /// Path of the database.
    path: String,
    /// Size of the database's files in bytes.
    bytes: u64,
}

/// The search index after it was switched on and brought up to date.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EnabledIndex {
    /// Path of the database.
    path: String,
    /// Number of sessions in the index.
    sessions: usize,
    /// Size of the database's files in bytes.
    bytes: u64,
}

impl IndexFile {
    /// Returns the index; `None` if it is off.
    pub(super) fn of(index: &IndexFolder) -> Option<Self> {
        let path = index.path().filter(|_| index.is_on())?;
        Some(Self { path: path.to_string_lossy().into_owned(), bytes: index.bytes() })
    }
}

impl fmt::Display for IndexFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, bytes) = (clean(&self.path), grouped(self.bytes));
        write!(f, "{path} ({bytes} bytes)")
    }
}

/// Switches the index on and adds the sessions of all agents.
pub(super) fn enable(shared: &GlobalOptions) -> anyhow::Result<()> {
    let folder = IndexFolder::here();
    folder
        .switch_on()
        .context("the search index cannot be created; check the permissions of the data folder")?;
    let progress = Progress::default();
    let build = || -> anyhow::Result<usize> {
        let mut index = folder.open()?;
        let found = find(&progress)?;
        found.warning.iter().for_each(|warning| note(warning));
        index.update(&found.files, &progress)?;
        Ok(index.n_sessions()?)
    };
    let sessions = waiting("building the search index", &progress, build)?;
    let path = folder.path().unwrap_or_default();
    let enabled =
        EnabledIndex { path: path.to_string_lossy().into_owned(), sessions, bytes: folder.bytes() };
    if shared.json {
        return json(&enabled);
    }
    print(&format!(
        "The search index is on. It stores the text of your sessions in\n  {} ({}, {} bytes)\nOnly you can read it. It \
         follows changed and deleted files. `plimsoll state disable index` removes it.\n",
        clean(&enabled.path),
        counted(sessions, "session"),
        grouped(enabled.bytes)
    ))
}
