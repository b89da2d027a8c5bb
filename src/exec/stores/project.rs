//! Finds the newest session of a project.

use super::{Cache, ListCaches, ListedSession, find, list};
use crate::exec::agent_store::project_folders;
use crate::progress::{Cancelled, Progress};
use std::path::{Path, PathBuf};

/// Returns the newest session that an agent recorded in this project folder, without those of sub-agents. Older
/// sessions are not read. `agent` is the name of one agent, as in [`super::STORES`]. Blocks.
///
/// # Errors
/// Returns [`Cancelled`] if `progress` is cancelled.
pub fn newest_of_project(
    folder: &Path,
    agent: Option<&str>,
    cache: &mut Cache,
    progress: &Progress,
) -> Result<Option<ListedSession>, Cancelled> {
    let mut files = find(progress)?.files;
    files.retain(|file| agent.is_none() || file.agent == agent);
    let project = Project::new(folder);
    let (mut newest, reading) = (None, Progress::default());
    let listing = list(
        &files,
        usize::MAX,
        ListCaches { summaries: cache, usage: None },
        &reading,
        |listed| {
            if newest.is_none() && listed.parent.is_none() && project.has(listed) {
                newest = Some(listed.clone());
            }
            if newest.is_some() || progress.is_cancelled() {
                reading.cancel();
            }
        },
    );
    progress.check_cancelled()?;
    match (listing, newest) {
        (_, Some(newest)) => Ok(Some(newest)),
        (Ok(_), None) => Ok(None),
        (Err(cancelled), None) => Err(cancelled),
    }
}

/// A folder in which agents work.
struct Project {
    folder: PathBuf,
    /// Folders of stores with its sessions, for agents whose files do not record the project.
    stores: Vec<PathBuf>,
}

impl Project {
    fn new(folder: &Path) -> Self {
        Self { stores: project_folders(&folder.to_string_lossy()), folder: real(folder) }
    }

    /// Returns whether a session was recorded in the folder.
    fn has(&self, listed: &ListedSession) -> bool {
        let project = listed.summary.as_ref().ok().and_then(|summary| summary.project.as_deref());
        match project.filter(|project| !project.trim().is_empty()) {
            Some(project) => real(Path::new(project)) == self.folder,
            None => self.stores.iter().any(|store| listed.found.path.starts_with(store)),
        }
    }
}

/// Resolves links, since a shell may name a folder by one.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
