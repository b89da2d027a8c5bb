//! Session files of a command that reads many: from paths, lists of paths, folders, archives and standard input.
//!
//! This is the one place that turns paths into files. Files of archives and standard input are stored in a private temporary
//! folder that is removed with [`Inputs`]. Outputs name them by [`Inputs::shown`] and [`Inputs::shown_text`], never by their
//! temporary path.

mod archive;
mod list;
mod unpacked;

pub use list::{list_from, read_list};

use super::files::{LoadError, file_name, is_folder, must_exist, parent_folder};
use super::search::{SearchResult, UnreadFile};
use super::stores::{
    FoundFile, FoundFiles, ListedSession, Listing, find_in, find_with_archives, is_named_archive,
    left_out_note,
};
use crate::figure::counted;
use crate::progress::Progress;
use crate::units::Bytes;
use archive::{ArchiveKind, kind_of};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use unpacked::UnpackedFiles;

/// Session files to read.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The files: in the order of the paths, those of a folder or archive by name.
    pub files: Vec<InputFile>,
    /// Files in folders that Plimsoll itself wrote. They are left out, since their sources count.
    pub own_outputs: Vec<PathBuf>,
    /// Paths and archives that cannot be read, and those without a session.
    pub failures: Vec<InputFailure>,
    /// Warnings about files that are missing from the result.
    pub warnings: Vec<String>,
    /// Folders are searched to the end, however many files they have.
    is_unlimited: bool,
    unpacked: UnpackedFiles,
}

/// A session file to read.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// The file.
    pub found: FoundFile,
    /// The user named the file. Others are reported if they cannot be read, and do not end the command.
    pub is_named: bool,
}

/// A path that gives no session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFailure {
    /// The path as it was given or found.
    pub path: PathBuf,
    /// The reason in one line.
    pub reason: String,
    /// The path is missing or damaged. False for a folder or an archive without a session file.
    pub is_damaged: bool,
    /// The user named the path.
    pub is_named: bool,
}

/// Way in which the user gave a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// On the command line.
    Named,
    /// In a list of paths, or in a folder.
    Found,
}

impl Inputs {
    /// Creates inputs without a maximum number of files of a folder.
    pub fn unlimited() -> Self {
        Self { is_unlimited: true, ..Self::default() }
    }

    /// Adds a path of the command line: a file, an archive or a folder.
    ///
    /// # Errors
    /// Returns a [`LoadError`] if the path does not exist or cannot be searched.
    pub fn add(&mut self, path: &Path, progress: &Progress) -> Result<(), LoadError> {
        let metadata = must_exist(path)?;
        let kind = metadata.is_file().then(|| kind_of(path)).flatten();
        match kind {
            _ if is_folder(path) => self.add_folder(path, Origin::Named, progress),
            Some(kind) => self.add_archive(path, kind, Origin::Named, progress),
            None if is_pipe(&metadata) => {
                // Such as of `<(command)`: it can be read only once, and files are read by hash and content.
                let shown = path.to_string_lossy().into_owned();
                let stream = File::open(path);
                let stream =
                    stream.map_err(|error| LoadError(format!("cannot read {shown} ({error})")))?;
                self.add_stream((PIPE, &shown), stream, progress)
            }
            None => {
                let found = found_file(path, &metadata, true);
                self.files.push(InputFile { found, is_named: true });
                Ok(())
            }
        }
    }

    /// Adds a path of a list. A path that cannot be read is a failure like a file of a folder.
    pub fn add_listed(&mut self, path: &Path, progress: &Progress) {
        if let Err(error) = self.try_listed(path, progress) {
            self.fail(path, &error.to_string(), true, Origin::Found);
        }
    }

    fn try_listed(&mut self, path: &Path, progress: &Progress) -> Result<(), LoadError> {
        let metadata = must_exist(path)?;
        if metadata.is_dir() {
            return self.add_folder(path, Origin::Found, progress);
        }
        if !metadata.is_file() {
            // A pipe may never end.
            let shown = path.display();
            return Err(LoadError(format!("{shown} is neither a file nor a folder")));
        }
        self.add_file(found_file(path, &metadata, false), progress)
    }

    /// Adds a stream, which is stored first: it may be an archive.
    ///
    /// # Errors
    /// Returns a [`LoadError`] if it cannot be stored.
    pub fn add_stream(
        &mut self,
        (name, shown): (&str, &str),
        stream: impl Read,
        progress: &Progress,
    ) -> Result<(), LoadError> {
        let path = self.unpacked.store(name, Path::new(shown), stream)?;
        match kind_of(&path) {
            None => self.add(&path, progress),
            Some(kind) => {
                let added = self.add_archive(&path, kind, Origin::Named, progress);
                // Otherwise it is removed with the folder.
                let _ = fs::remove_file(path);
                added
            }
        }
    }

    /// Adds the files that a search found.
    pub fn add_found(&mut self, found: FoundFiles) {
        let FoundFiles { files, own_outputs, warning } = found;
        self.own_outputs.extend(own_outputs.iter().map(|path| self.unpacked.shown(path)));
        self.warnings.extend(warning);
        self.files.extend(files.into_iter().map(|found| InputFile { found, is_named: false }));
    }

    fn add_folder(
        &mut self,
        folder: &Path,
        origin: Origin,
        progress: &Progress,
    ) -> Result<(), LoadError> {
        let mut found = find_with_archives(folder, self.is_unlimited, progress)?;
        let before = self.counts();
        let files = std::mem::take(&mut found.files);
        self.add_found(found);
        for file in files {
            let (path, added) = (file.path.clone(), self.add_file(file, progress));
            if let Err(error) = added {
                self.fail(&path, &error.to_string(), true, Origin::Found);
            }
        }
        let Self { files, unpacked, .. } = self;
        files[before.0..].sort_by_cached_key(|file| unpacked.shown(&file.found.path));
        if before == self.counts() {
            self.fail_empty(folder, origin);
        }
        Ok(())
    }

    /// Adds a file of a list or a folder, which is an archive if it has the name of one.
    fn add_file(&mut self, found: FoundFile, progress: &Progress) -> Result<(), LoadError> {
        let kind = is_named_archive(&file_name(&found.path)).then(|| kind_of(&found.path));
        if let Some(kind) = kind.flatten() {
            return self.add_archive(&found.path, kind, Origin::Found, progress);
        }
        self.files.push(InputFile { found, is_named: false });
        Ok(())
    }

    fn add_archive(
        &mut self,
        path: &Path,
        kind: ArchiveKind,
        origin: Origin,
        progress: &Progress,
    ) -> Result<(), LoadError> {
        let shown = self.unpacked.shown(path);
        let unpacking = self.unpacked.unpack(path, kind)?;
        let before = self.counts();
        let mut found = find_in(&unpacking.root, progress)?;
        found.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.add_found(found);
        let n = unpacking.n_left_out;
        if n > 0 {
            let are = if n == 1 { "is" } else { "are" };
            self.warnings.push(format!(
                "{}: {} {are} left out: links, devices, files of more than 4 GiB, and names outside of the archive",
                shown.display(),
                counted(n, "item")
            ));
        }
        match unpacking.problem {
            Some(reason) => self.fail(&shown, &reason, true, origin),
            None if before == self.counts() => self.fail_empty(&shown, origin),
            None => {}
        }
        Ok(())
    }

    /// Returns the numbers of files, failures and own outputs.
    fn counts(&self) -> (usize, usize, usize) {
        (self.files.len(), self.failures.len(), self.own_outputs.len())
    }

    fn fail_empty(&mut self, path: &Path, origin: Origin) {
        let reason = format!("{} holds no session file", path.display());
        self.fail(path, &reason, false, origin);
    }

    fn fail(&mut self, path: &Path, reason: &str, is_damaged: bool, origin: Origin) {
        let (path, reason) = (self.unpacked.shown(path), self.unpacked.shown_text(reason));
        let is_named = origin == Origin::Named;
        self.failures.push(InputFailure { path, reason, is_damaged, is_named });
    }

    /// Leaves out files that several of the given paths name, such as a folder and a file in it. The first one stays.
    pub fn remove_repeated(&mut self) {
        let mut folders: HashMap<PathBuf, PathBuf> = HashMap::new();
        let mut known = HashSet::new();
        self.files.retain(|file| {
            let path = &file.found.path;
            let is_link = file.is_named && path.is_symlink();
            let target = if is_link { path.canonicalize() } else { Ok(path.clone()) };
            let path = target.unwrap_or_else(|_| path.clone());
            let folder = parent_folder(&path);
            // Most files are in a folder of others.
            let folder = folders
                .entry(folder.to_owned())
                .or_insert_with(|| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
            known.insert(folder.join(path.file_name().unwrap_or_default()))
        });
    }

    /// Returns the files without how they were given.
    pub fn found_files(&self) -> Vec<FoundFile> {
        self.files.iter().map(|file| file.found.clone()).collect()
    }

    /// Returns notes about files that are missing from the result, except failures.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.warnings.iter().cloned().chain(left_out_note(self.own_outputs.len()))
    }

    /// Returns whether files are stored in the temporary folder. They must not be part of the search index.
    pub fn has_temporary_files(&self) -> bool {
        self.unpacked.is_used()
    }

    /// Returns the path of a file for outputs: `archive.zip/inner/path` for a file of an archive.
    pub fn shown(&self, path: &Path) -> PathBuf {
        self.unpacked.shown(path)
    }

    /// Returns a text for outputs, with the paths of [`Inputs::shown`].
    pub fn shown_text(&self, text: &str) -> String {
        self.unpacked.shown_text(text)
    }

    /// Replaces temporary paths in a list of sessions, which is complete then, and adds missing and damaged paths to it.
    pub fn show_in(&self, listing: &mut Listing) {
        let all = listing.sessions.iter_mut().chain(&mut listing.unread);
        for listed in all.filter(|_| self.has_temporary_files()) {
            listed.found.path = self.shown(&listed.found.path);
            if let Err(reason) = &mut listed.summary {
                *reason = self.shown_text(reason);
            }
            if let Some(repeats) = &mut listed.repeats {
                repeats.path = self.shown(&repeats.path);
            }
        }
        listing.unread.extend(self.damaged().map(|failure| ListedSession {
            found: failure.found(),
            conversation: None,
            summary: Err(failure.reason.clone()),
            parent: None,
            repeats: None,
            usage: None,
        }));
    }

    /// Replaces temporary paths in the result of a search and adds missing and damaged paths to it.
    pub fn show_in_search(&self, result: &mut SearchResult) {
        for session in result.sessions.iter_mut().filter(|_| self.has_temporary_files()) {
            session.found.path = self.shown(&session.found.path);
        }
        for file in result.unread.iter_mut().filter(|_| self.has_temporary_files()) {
            file.found.path = self.shown(&file.found.path);
            file.reason = self.shown_text(&file.reason);
        }
        result.unread.extend(
            self.damaged().map(|failure| UnreadFile {
                found: failure.found(),
                reason: failure.reason.clone(),
            }),
        );
    }
}

impl Inputs {
    fn damaged(&self) -> impl Iterator<Item = &InputFailure> {
        self.failures.iter().filter(|failure| failure.is_damaged)
    }
}

impl InputFailure {
    fn found(&self) -> FoundFile {
        FoundFile {
            agent: None,
            path: self.path.clone(),
            size: Bytes(0),
            modified: None,
            is_named: self.is_named,
        }
    }
}

/// Name of the content of a pipe.
const PIPE: &str = "pipe";

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

/// Pipes are no files on other systems.
#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

fn found_file(path: &Path, metadata: &Metadata, is_named: bool) -> FoundFile {
    FoundFile {
        agent: None,
        path: path.to_owned(),
        size: Bytes(metadata.len()),
        modified: metadata.modified().ok(),
        is_named,
    }
}
