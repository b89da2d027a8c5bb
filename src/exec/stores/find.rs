//! Finds session files: by the names that each store gives them, or in a folder of a person's choice.

use super::places;
use crate::exec::{LoadError, must_exist, session_folder};
use crate::progress::{Cancelled, Progress};
use crate::units::Bytes;
use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// No more files are looked at: a folder can be a whole disk.
const MOST_FILES: usize = 100_000;
/// Nor deeper folders.
const MOST_DEEP: usize = 12;
/// Endings of files that can hold a session.
const ENDINGS: &[&str] = &[
    "json", "jsonl", "ndjson", "traj", "md", "gz", "zst", "db", "sqlite", "vscdb",
];
/// Folders that hold none, and much else.
const SKIPPED: &[&str] = &["node_modules", "target"];
/// What an export lays beside its copy.
const SIDECARS: &[&str] = &[".removed.jsonl", ".manifest.json"];

/// A file that may hold a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The agent in whose store it lies.
    pub agent: Option<&'static str>,
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub size: Bytes,
    /// When it was last written, where the system says.
    pub modified: Option<SystemTime>,
    /// A person named it by itself: each session that it holds is listed.
    pub is_named: bool,
}

/// The session files of all agents on this machine, newest first. Blocks.
///
/// # Errors
/// [`Cancelled`] when `progress` says to stop.
pub fn find(progress: &Progress) -> Result<Vec<Found>, Cancelled> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for (store, folder, segments) in places::all() {
        // Two places can be one: a variable that names the usual folder.
        if !seen.insert((folder.clone(), segments.clone())) {
            continue;
        }
        let mut search = Search {
            agent: Some(store.agent),
            progress,
            found: &mut found,
        };
        search.segments(&folder, &segments, MOST_DEEP)?;
    }
    Ok(newest_first(found))
}

/// The files in a folder and those below it that may hold a session, newest first; a file is a folder of its sessions.
/// Blocks.
///
/// # Errors
/// When it is neither, or `progress` says to stop.
pub fn find_in(folder: &Path, progress: &Progress) -> Result<Vec<Found>, LoadError> {
    let metadata = must_exist(folder)?;
    if metadata.is_file() {
        return Ok(vec![Found {
            agent: None,
            path: folder.to_owned(),
            size: Bytes(metadata.len()),
            modified: metadata.modified().ok(),
            is_named: true,
        }]);
    }
    if !metadata.is_dir() {
        let folder = folder.display();
        return Err(LoadError(format!(
            "{folder} is neither a folder nor a file; give one of these"
        )));
    }
    let mut found = Vec::new();
    let mut search = Search {
        agent: None,
        progress,
        found: &mut found,
    };
    if search.take_folder(folder) {
        return Ok(found);
    }
    let searched = search.below(folder, MOST_DEEP, &|name| {
        let is_sidecar = SIDECARS.iter().any(|end| name.ends_with(end));
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_hidden = name.starts_with('.');
        !is_sidecar
            && !is_hidden
            && ENDINGS
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
    });
    searched.map_err(|cancelled| LoadError(cancelled.to_string()))?;
    Ok(newest_first(found))
}

fn newest_first(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.path.cmp(&b.path))
    });
    found
}

struct Search<'a> {
    agent: Option<&'static str>,
    progress: &'a Progress,
    found: &'a mut Vec<Found>,
}

impl Search<'_> {
    /// What lies in a folder by the names of these segments.
    fn segments(&mut self, folder: &Path, segments: &[&str], deep: usize) -> Result<(), Cancelled> {
        let Some((first, rest)) = segments.split_first().filter(|_| deep > 0) else {
            return Ok(());
        };
        if *first == "**" {
            let name = rest.first().copied().unwrap_or("*");
            return self.below(folder, deep, &|file| is_like(file, name));
        }
        for entry in self.entries(folder)? {
            let name = entry.file_name();
            if !name.to_str().is_some_and(|name| is_like(name, first)) {
                continue;
            }
            if rest.is_empty() {
                self.take(&entry);
            } else if is_folder(&entry) {
                self.segments(&entry.path(), rest, deep - 1)?;
            }
        }
        Ok(())
    }

    /// What lies in a folder or below it and has a name like this.
    fn below(
        &mut self,
        folder: &Path,
        deep: usize,
        is_named: &dyn Fn(&str) -> bool,
    ) -> Result<(), Cancelled> {
        if deep == 0 {
            return Ok(());
        }
        for entry in self.entries(folder)? {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_skipped = name.starts_with('.') || SKIPPED.contains(&name);
            if is_folder(&entry) && !is_skipped {
                let folder = entry.path();
                if !self.take_folder(&folder) {
                    self.below(&folder, deep - 1, is_named)?;
                }
            } else if is_named(name) {
                self.take(&entry);
            }
        }
        Ok(())
    }

    /// What a folder holds; nothing where it cannot be read.
    fn entries(&self, folder: &Path) -> Result<Vec<DirEntry>, Cancelled> {
        self.progress.go_on()?;
        let is_enough = self.found.len() >= MOST_FILES;
        let entries = fs::read_dir(folder).ok().filter(|_| !is_enough);
        Ok(entries.into_iter().flatten().flatten().collect())
    }

    /// Takes a folder in whose files are one session together; not where the names of a store tell what is one.
    fn take_folder(&mut self, folder: &Path) -> bool {
        let events = || session_folder::events_in(folder);
        let Some(files) = self.agent.is_none().then(events).flatten() else {
            return false;
        };
        let all = files
            .iter()
            .filter_map(|file| fs::symlink_metadata(file).ok());
        let all: Vec<fs::Metadata> = all.collect();
        self.found.push(Found {
            agent: None,
            path: folder.to_owned(),
            size: Bytes(all.iter().map(fs::Metadata::len).sum()),
            modified: all.iter().filter_map(|file| file.modified().ok()).max(),
            is_named: false,
        });
        true
    }

    /// Takes a file in: no link, no device, no pipe, and no piece of a session that another file stands for.
    fn take(&mut self, entry: &DirEntry) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if self.agent.is_none() && session_folder::is_piece(&entry.path()) {
            return;
        }
        if let (true, Ok(metadata)) = (is_file, entry.metadata()) {
            self.found.push(Found {
                agent: self.agent,
                path: entry.path(),
                size: Bytes(metadata.len()),
                modified: metadata.modified().ok(),
                is_named: false,
            });
        }
    }
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// Whether a name is like a pattern with at most one `*`.
fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => {
            let rest = name.strip_prefix(start);
            rest.is_some_and(|rest| rest.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters_but_those_around_it_do_not_overlap() {
        assert!(is_like("rollout-1.jsonl", "rollout-*.jsonl"));
        assert!(is_like("anything", "*"));
        assert!(!is_like("aba", "ab*ba"));
        assert!(!is_like("auth.json", "rollout-*.jsonl"));
    }

    #[cfg(unix)]
    #[test]
    fn links_sidecars_and_other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("deep/node_modules")).unwrap();
        for name in [
            "a.jsonl",
            "deep/b.JSON",
            "deep/node_modules/c.json",
            "a-managed-1.removed.jsonl",
            "notes.txt",
            ".secret.json",
        ] {
            fs::write(at(name), "{}").unwrap();
        }
        std::os::unix::fs::symlink(at("a.jsonl"), at("link.jsonl")).unwrap();
        std::os::unix::fs::symlink(folder.path(), at("deep/round")).unwrap();
        let found = find_in(folder.path(), &Progress::default()).unwrap();
        let mut names: Vec<_> = found.iter().map(|f| f.path.clone()).collect();
        names.sort();
        assert_eq!(names, [at("a.jsonl"), at("deep/b.JSON")]);
    }
}
