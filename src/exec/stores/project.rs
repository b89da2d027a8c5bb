//! Finds the newest session of a project.

use super::{Cache, ListCaches, ListedSession, find, list};
use crate::exec::agent_store::project_folders;
use crate::progress::{Cancelled, Progress};
use std::path::{Path, PathBuf};

/// Returns the newest session that an agent recorded in this folder, without those of sub-agents; if there is none, that
/// of the nearest folder above it, up to but without the home folder. Sessions older than one of this folder are not
/// read. `agent` is the name of one agent, as in [`super::STORES`]. Blocks.
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
    let mut projects = projects(folder);
    let (mut newest, reading) = (None, Progress::default());
    let caches = ListCaches { summaries: cache, usage: None };
    let listing = list(&files, usize::MAX, caches, &reading, |listed| {
        if listed.parent.is_none()
            && let Some(found) = position(&projects, listed)
        {
            newest = Some(listed.clone());
            // Only a nearer folder is better from now on.
            projects.truncate(found);
        }
        if projects.is_empty() || progress.is_cancelled() {
            reading.cancel();
        }
    });
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

/// Returns the project of a folder, then those of the folders above it. The home folder and those above it are the
/// project of no other folder.
fn projects(folder: &Path) -> Vec<Project> {
    let home = etcetera::home_dir().ok().map(|home| real(&home));
    let is_above_home = |folder: &Path| {
        let folder = real(folder);
        folder.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(folder))
    };
    let above = folder.ancestors().skip(1).take_while(|folder| !is_above_home(folder));
    let project = |folder: &Path| Project {
        stores: project_folders(&folder.to_string_lossy()),
        folder: real(folder),
    };
    std::iter::once(folder).chain(above).map(project).collect()
}

/// Returns the project in which a session was recorded.
fn position(projects: &[Project], listed: &ListedSession) -> Option<usize> {
    let project = listed.summary.as_ref().ok().and_then(|summary| summary.project.as_deref());
    match project.filter(|project| !project.trim().is_empty()) {
        Some(project) => {
            let folder = real(Path::new(project));
            projects.iter().position(|project| project.folder == folder)
        }
        None => projects.iter().position(|project| {
            project.stores.iter().any(|store| listed.found.path.starts_with(store))
        }),
    }
}

/// Resolves links, since a shell may name a folder by one.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
