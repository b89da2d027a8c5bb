//! Finds session files: in the stores of agents by name, or in any folder.

use super::{HOME_FOLDERS, PROJECT_FOLDERS, locations};
use crate::exec::files::{LoadError, must_exist};
use crate::exec::load::{events_in, is_piece};
use crate::exec::outputs::{MANIFEST, OwnOutputs};
use crate::figure::{counted, grouped};
use crate::progress::{Cancelled, Progress};
use crate::units::Bytes;
use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of files of a search, since a folder can be a whole disk.
const MAX_FILES: usize = 100_000;
/// Maximum depth of a search. Chosen: stores nest a few folders, such as year, month and day, and a user may name a
/// folder far above them. Deeper folders belong to source code and installed packages.
pub(crate) const MAX_DEPTH: usize = 12;
/// Extensions of files that can contain a session.
pub const SESSION_EXTENSIONS: &[&str] =
    &["json", "jsonl", "ndjson", "traj", "md", "gz", "zst", "db", "sqlite", "vscdb", "eval"];
/// Ends of the names of archives, whose files can contain sessions.
const ARCHIVE_ENDINGS: &[&str] = &[".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"];
/// Large folders without sessions.
const SKIPPED: &[&str] = &["node_modules", "target"];
/// Suffixes of an export's sidecars.
const SIDECARS: [&str; 2] = [".removed.jsonl", MANIFEST];

/// A file that may hold a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The agent whose store contains the file, if any.
    pub agent: Option<&'static str>,
    /// The file.
    pub path: PathBuf,
    /// Size of the file.
    pub size: Bytes,
    /// Modification time, if the system has it.
    pub modified: Option<SystemTime>,
    /// The user named this file, so each session in it is listed.
    pub is_named: bool,
}

/// The result of a search for session files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundFiles {
    /// The files, newest first.
    pub files: Vec<FoundFile>,
    /// Files that Plimsoll itself wrote. They are left out, since their sources count.
    pub own_outputs: Vec<PathBuf>,
    /// Warning that files are missing, since the search stopped at a limit or a folder cannot be read.
    pub warning: Option<String>,
}

impl FoundFiles {
    /// Returns notes about files that are missing from the result.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.warning.iter().cloned().chain(left_out_note(self.own_outputs.len()))
    }
}

/// Returns a note about files that Plimsoll wrote.
pub(crate) fn left_out_note(n: usize) -> Option<String> {
    let are = if n == 1 { "is" } else { "are" };
    let files = counted(n, "file");
    (n > 0)
        .then(|| format!("{files} that Plimsoll wrote {are} left out; name a file to include it"))
}

impl FoundFile {
    /// Returns a file as if a search had found it; `None` if it does not exist.
    pub(super) fn unnamed(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok()?;
        Some(Self {
            agent: None,
            path: path.to_owned(),
            size: Bytes(metadata.len()),
            modified: metadata.modified().ok(),
            is_named: false,
        })
    }

    /// Returns whether the agent migrated the session of this file to a database with these ids.
    pub(crate) fn is_migrated(&self, ids: &HashSet<String>) -> bool {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        self.agent.is_some() && stem.is_some_and(|stem| ids.contains(stem))
    }
}

/// Finds the session files of all agents on this machine. Blocks.
///
/// # Errors
/// Returns [`Cancelled`] if `progress` is cancelled.
pub fn find(progress: &Progress) -> Result<FoundFiles, Cancelled> {
    let mut search = FileSearch::new(MAX_FILES, progress);
    let mut seen = HashSet::new();
    for root in locations::all() {
        // Two locations can be the same if a variable names the usual folder.
        if !seen.insert((root.folder.clone(), root.segments.clone())) {
            continue;
        }
        search.agent = Some(root.agent);
        search.segments(&root.folder, &root.segments, MAX_DEPTH)?;
    }
    Ok(search.finish())
}

/// Finds the files below a folder that may contain a session. A file is found itself. Blocks.
///
/// # Errors
/// Returns a [`LoadError`] if the path is neither a folder nor a file, or `progress` is cancelled.
pub fn find_in(folder: &Path, progress: &Progress) -> Result<FoundFiles, LoadError> {
    find_up_to(MAX_FILES, folder, &may_hold_session, progress)
}

/// Finds the same files as [`find_in`], and archives, without a maximum number if `is_unlimited`. Blocks.
///
/// # Errors
/// Returns a [`LoadError`] like [`find_in`].
pub(crate) fn find_with_archives(
    folder: &Path,
    is_unlimited: bool,
    progress: &Progress,
) -> Result<FoundFiles, LoadError> {
    let is_named = |name: &str| may_hold_session(name) || is_named_archive(name);
    let max = if is_unlimited { usize::MAX } else { MAX_FILES };
    find_up_to(max, folder, &is_named, progress)
}

fn find_up_to(
    max: usize,
    folder: &Path,
    is_named: &dyn Fn(&str) -> bool,
    progress: &Progress,
) -> Result<FoundFiles, LoadError> {
    let metadata = must_exist(folder)?;
    if metadata.is_file() {
        let file = FoundFile {
            agent: None,
            path: folder.to_owned(),
            size: Bytes(metadata.len()),
            modified: metadata.modified().ok(),
            is_named: true,
        };
        return Ok(FoundFiles { files: vec![file], ..FoundFiles::default() });
    }
    if !metadata.is_dir() {
        let folder = folder.display();
        return Err(LoadError(format!(
            "{folder} is neither a folder nor a file; give one of them"
        )));
    }
    let mut search = FileSearch::new(max, progress);
    if search.add_folder(folder) {
        return Ok(search.finish());
    }
    let searched = search.below(folder, MAX_DEPTH, is_named);
    searched.map_err(|cancelled| LoadError(cancelled.to_string()))?;
    Ok(search.finish())
}

/// Returns whether the name of a file is that of a session.
pub fn may_hold_session(name: &str) -> bool {
    let is_sidecar = SIDECARS.iter().any(|end| name.ends_with(end));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let mut known = SESSION_EXTENSIONS.iter();
    !is_sidecar && !name.starts_with('.') && known.any(|known| ending.eq_ignore_ascii_case(known))
}

/// Returns whether a search enters a folder of this name.
pub(crate) fn is_searched(folder: &str) -> bool {
    let is_known = PROJECT_FOLDERS.contains(&folder) || HOME_FOLDERS.contains(&folder);
    let is_hidden = folder.starts_with('.') && !is_known;
    !is_hidden && !SKIPPED.contains(&folder)
}

/// Returns whether the name of a file is that of an archive.
pub(crate) fn is_named_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !name.starts_with('.') && ARCHIVE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

struct FileSearch<'a> {
    agent: Option<&'static str>,
    /// Number of files at which the search stops.
    max: usize,
    progress: &'a Progress,
    found: Vec<FoundFile>,
    /// Manifests of files that Plimsoll wrote.
    manifests: Vec<PathBuf>,
    /// A folder was not searched, since the search had stopped.
    is_cut: bool,
    /// Number of folders that are too deep.
    n_too_deep: usize,
    /// Number of folders that cannot be read.
    n_unreadable: usize,
}

impl<'a> FileSearch<'a> {
    fn new(max: usize, progress: &'a Progress) -> Self {
        Self {
            agent: None,
            max,
            progress,
            found: Vec::new(),
            manifests: Vec::new(),
            is_cut: false,
            n_too_deep: 0,
            n_unreadable: 0,
        }
    }

    fn finish(self) -> FoundFiles {
        let own = OwnOutputs::new(&self.manifests);
        let mut found = self.found;
        found.retain(|file| !own.are_around(&file.path));
        let is_own = |file: &FoundFile| own.contain(&file.path, file.size.0);
        let (own_outputs, mut files): (Vec<_>, Vec<_>) = found.into_iter().partition(is_own);
        let mut own_outputs: Vec<PathBuf> = own_outputs.into_iter().map(|file| file.path).collect();
        own_outputs.sort();
        files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
        let mut warnings = Vec::new();
        if self.is_cut {
            let n = grouped(files.len() as u64);
            warnings.push(format!(
                "the search stopped after {n} files; choose a smaller folder to find the others"
            ));
        }
        if self.n_unreadable > 0 {
            let folders = counted(self.n_unreadable, "folder");
            warnings.push(format!("{folders} cannot be read; check the permissions"));
        }
        if self.n_too_deep > 0 {
            let folders = counted(self.n_too_deep, "folder");
            warnings.push(format!(
                "{folders} more than {MAX_DEPTH} levels deep left out; give them as paths"
            ));
        }
        let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        FoundFiles { files, own_outputs, warning }
    }

    /// Adds the files in a folder that match these path segments.
    fn segments(
        &mut self,
        folder: &Path,
        segments: &[&str],
        depth: usize,
    ) -> Result<(), Cancelled> {
        let Some((first, rest)) = segments.split_first().filter(|_| depth > 0) else {
            return Ok(());
        };
        if *first == "**" {
            let name = rest.first().copied().unwrap_or("*");
            return self.below(folder, depth, &|file| matches(file, name));
        }
        for entry in self.entries(folder)? {
            let name = entry.file_name();
            if !name.to_str().is_some_and(|name| matches(name, first)) {
                continue;
            }
            if rest.is_empty() {
                self.add(&entry);
            } else if is_folder(&entry) {
                self.segments(&entry.path(), rest, depth - 1)?;
            }
        }
        Ok(())
    }

    /// Adds the files below a folder whose names are accepted.
    fn below(
        &mut self,
        folder: &Path,
        depth: usize,
        is_named: &dyn Fn(&str) -> bool,
    ) -> Result<(), Cancelled> {
        if depth == 0 {
            self.n_too_deep += 1;
            return Ok(());
        }
        for entry in self.entries(folder)? {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if is_folder(&entry) && is_searched(name) {
                let folder = entry.path();
                if !self.add_folder(&folder) {
                    self.below(&folder, depth - 1, is_named)?;
                }
            } else if is_named(name) {
                self.add(&entry);
            }
        }
        Ok(())
    }

    /// Lists a folder; empty if it cannot be read.
    fn entries(&mut self, folder: &Path) -> Result<Vec<DirEntry>, Cancelled> {
        self.progress.check_cancelled()?;
        if self.found.len() >= self.max {
            self.is_cut = true;
            return Ok(Vec::new());
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => Some(entries),
            Err(error) => {
                // Most agents are not installed.
                self.n_unreadable += usize::from(error.kind() != io::ErrorKind::NotFound);
                None
            }
        };
        let entries = entries.into_iter().flatten().flatten();
        let is_manifest = |entry: &DirEntry| {
            let name = entry.file_name();
            name.to_str().is_some_and(|name| name.ends_with(MANIFEST))
        };
        let (manifests, entries): (Vec<_>, Vec<_>) = entries.partition(is_manifest);
        self.manifests.extend(manifests.iter().map(DirEntry::path));
        Ok(entries)
    }

    /// Adds a folder whose files form one session, except in a store, where names identify sessions. Returns true if
    /// added.
    fn add_folder(&mut self, folder: &Path) -> bool {
        let events = || events_in(folder);
        let Some(files) = self.agent.is_none().then(events).flatten() else {
            return false;
        };
        let all = files.iter().filter_map(|file| fs::symlink_metadata(file).ok());
        let all: Vec<fs::Metadata> = all.collect();
        self.found.push(FoundFile {
            agent: None,
            path: folder.to_owned(),
            size: Bytes(all.iter().map(fs::Metadata::len).sum()),
            modified: all.iter().filter_map(|file| file.modified().ok()).max(),
            is_named: false,
        });
        true
    }

    /// Adds a regular file, unless it is a piece of a session that another file represents.
    fn add(&mut self, entry: &DirEntry) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if self.agent.is_none() && is_piece(&entry.path()) {
            return;
        }
        if let (true, Ok(metadata)) = (is_file, entry.metadata()) {
            self.found.push(FoundFile {
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

/// Returns true if a name matches a pattern with at most one `*`.
fn matches(name: &str, pattern: &str) -> bool {
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
    fn a_star_matches_any_characters_without_overlap() {
        assert!(matches("rollout-1.jsonl", "rollout-*.jsonl"));
        assert!(matches("anything", "*"));
        assert!(!matches("aba", "ab*ba"));
        assert!(!matches("auth.json", "rollout-*.jsonl"));
    }

    #[cfg(unix)]
    #[test]
    fn links_sidecars_and_other_files_are_not_found() {
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
            ".crush/crush.db",
            ".ssh/d.json",
        ] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "{}").unwrap();
        }
        std::os::unix::fs::symlink(at("a.jsonl"), at("link.jsonl")).unwrap();
        std::os::unix::fs::symlink(folder.path(), at("deep/round")).unwrap();
        let found = find_in(folder.path(), &Progress::default()).unwrap();
        let mut names: Vec<_> = found.files.iter().map(|f| f.path.clone()).collect();
        names.sort();
        assert_eq!(names, [at(".crush/crush.db"), at("a.jsonl"), at("deep/b.JSON")]);
        assert_eq!(found.warning, None);
    }

    #[test]
    fn archives_are_found_for_commands_that_read_them() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.zip", "b.tar.gz", "c.TGZ", "d.tar.zst", ".e.tar", "f.txt"] {
            fs::write(folder.path().join(name), "archive").unwrap();
        }
        let names = |found: FoundFiles| {
            let names = found.files.iter().map(|file| file.path.file_name().unwrap().to_owned());
            let mut names: Vec<_> = names.collect();
            names.sort();
            names
        };
        let progress = Progress::default();
        let with = names(find_with_archives(folder.path(), false, &progress).unwrap());
        assert_eq!(with, ["a.zip", "b.tar.gz", "c.TGZ", "d.tar.zst"]);
        // By the ending of compressed sessions.
        let without = names(find_in(folder.path(), &progress).unwrap());
        assert_eq!(without, ["b.tar.gz", "d.tar.zst"]);
    }

    #[test]
    fn a_search_that_reaches_its_limit_warns() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("s.json"), "{}").unwrap();
        }
        let search =
            |max| find_up_to(max, folder.path(), &may_hold_session, &Progress::default()).unwrap();
        assert_eq!(search(3).warning, None);
        let found = search(2);
        assert_eq!(found.files.len(), 2);
        let warning =
            "the search stopped after 2 files; choose a smaller folder to find the others";
        assert_eq!(found.warning.as_deref(), Some(warning));
    }
}
