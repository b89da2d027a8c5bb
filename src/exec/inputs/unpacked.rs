//! Files of archives and streams in a private temporary folder.
//!
//! Archives may be hostile. Only files with the extensions of sessions are written, under the folder of their archive; links
//! and devices never are. Numbers and sizes are bounded for all archives of a command together, since their files stay until
//! it ends.

use super::archive::{ArchiveKind, ArchivedFile, SpecialEntry, tar_files, zip_files};
use crate::exec::files::unfinished::TemporaryFolder;
use crate::exec::files::{
    LoadError, MAX_SESSION_BYTES, create_private_file, create_private_folder, parent_folder,
};
use crate::exec::outputs::MANIFEST;
use crate::exec::stores::{MAX_DEPTH, is_searched, may_hold_session};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of files of all archives, as of a folder.
const MAX_FILES: usize = 100_000;
/// Maximum number of bytes of all archives, decompressed, and of streams. Chosen: 100,000 sessions of the median size of
/// 110 kB have 11 GB, and a disk with less space than this is rare.
const MAX_BYTES: u64 = 16 << 30;

/// Number of digits of a folder's name.
const DIGITS: usize = 8;

/// Files in the temporary folder.
#[derive(Debug)]
pub(super) struct UnpackedFiles {
    /// Created with the first file.
    folder: Option<TemporaryFolder>,
    /// The folders in it, by their number.
    roots: Vec<Root>,
    files_left: usize,
    bytes_left: u64,
}

impl Default for UnpackedFiles {
    fn default() -> Self {
        Self { folder: None, roots: Vec::new(), files_left: MAX_FILES, bytes_left: MAX_BYTES }
    }
}

/// The folder of an archive or of a stream.
#[derive(Debug)]
struct Root {
    /// Path of the archive or name of the stream for outputs.
    shown: PathBuf,
    /// Name of the only file, if the folder is that of a stream.
    stream: Option<String>,
}

/// The result of unpacking an archive.
pub(super) struct Unpacking {
    /// Folder of its files.
    pub(super) root: PathBuf,
    /// Number of entries that were not written although they are no folders, and of files that cannot be written.
    pub(super) n_left_out: usize,
    /// Reason why further files are missing.
    pub(super) problem: Option<String>,
}

impl UnpackedFiles {
    pub(super) fn is_used(&self) -> bool {
        self.folder.is_some()
    }

    /// Stores a stream as a file and returns its path.
    pub(super) fn store(
        &mut self,
        name: &str,
        shown: &Path,
        stream: impl Read,
    ) -> Result<PathBuf, LoadError> {
        let root = Root { shown: shown.to_owned(), stream: Some(name.to_owned()) };
        let path = self.add_root(root)?.join(name);
        let copied = create_private_file(&path).and_then(|mut file| {
            io::copy(&mut stream.take(self.bytes_left.saturating_add(1)), &mut file)
        });
        let n = copied.map_err(|error| cannot_store(name, &error))?;
        let left = self.bytes_left.checked_sub(n);
        self.bytes_left = left.ok_or_else(|| {
            LoadError(format!("{name} is larger than the limit of {} GiB", MAX_BYTES >> 30))
        })?;
        Ok(path)
    }

    /// Unpacks an archive. Files before an error stay.
    pub(super) fn unpack(
        &mut self,
        archive: &Path,
        kind: ArchiveKind,
    ) -> Result<Unpacking, LoadError> {
        let shown = self.shown(archive);
        let root = self.add_root(Root { shown: shown.clone(), stream: None })?;
        let modified = fs::metadata(archive).and_then(|metadata| metadata.modified()).ok();
        let most = self.bytes_left;
        let mut extraction = Extraction { files: self, root: &root, modified, n_left_out: 0 };
        let unpacked = File::open(archive).and_then(|file| match kind {
            ArchiveKind::Zip => zip_files(file, is_session, most, |file| extraction.add(file)),
            ArchiveKind::Tar => tar_files(file, most, |entry| match entry {
                Ok(file) if !is_session(&file.name) => Ok(()),
                Ok(file) => extraction.add(file),
                Err(SpecialEntry) => {
                    extraction.n_left_out += 1;
                    Ok(())
                }
            }),
        });
        let n_left_out = extraction.n_left_out;
        let problem = unpacked.err();
        let problem = problem.map(|error| format!("cannot unpack {} ({error})", shown.display()));
        Ok(Unpacking { root, n_left_out, problem })
    }

    /// Creates a folder for an archive or a stream.
    fn add_root(&mut self, root: Root) -> Result<PathBuf, LoadError> {
        let failed = |error: io::Error| cannot_store(&root.shown.display().to_string(), &error);
        if self.folder.is_none() {
            self.folder = Some(TemporaryFolder::new().map_err(failed)?);
        }
        let name = format!("{:0DIGITS$}", self.roots.len());
        let path = self.base().unwrap_or_default().join(name);
        create_private_folder(&path).map_err(failed)?;
        self.roots.push(root);
        Ok(path)
    }

    /// Returns the folder of all folders.
    fn base(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.path().join(TemporaryFolder::UNPACKED))
    }

    fn root(&self, number: &str) -> Option<&Root> {
        self.roots.get(number.parse::<usize>().ok()?)
    }

    /// Returns the path of a file for outputs.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        let shown = || {
            let mut parts = path.strip_prefix(self.base()?).ok()?.components();
            let root = self.root(parts.next()?.as_os_str().to_str()?)?;
            let inner = parts.as_path();
            let is_root = root.stream.is_some() || inner.as_os_str().is_empty();
            Some(if is_root { root.shown.clone() } else { root.shown.join(inner) })
        };
        shown().unwrap_or_else(|| path.to_owned())
    }

    /// Returns a text for outputs.
    pub(super) fn shown_text(&self, text: &str) -> String {
        let Some(base) = self.base() else {
            return text.to_owned();
        };
        let base = format!("{}{MAIN_SEPARATOR}", base.display());
        let mut pieces = text.split(&base);
        let mut shown = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (number, rest) = piece.split_at_checked(DIGITS).unwrap_or((piece, ""));
            let Some(root) = self.root(number) else {
                shown.push_str(piece);
                continue;
            };
            shown.push_str(&root.shown.to_string_lossy());
            let file = root.stream.as_ref().map(|name| format!("{MAIN_SEPARATOR}{name}"));
            let rest = file.and_then(|file| rest.strip_prefix(&*file)).unwrap_or(rest);
            shown.push_str(rest);
        }
        shown
    }
}

/// An archive that is being unpacked.
struct Extraction<'a> {
    files: &'a mut UnpackedFiles,
    root: &'a Path,
    /// Time of files without one.
    modified: Option<SystemTime>,
    n_left_out: usize,
}

impl Extraction<'_> {
    /// Writes a file, or leaves it out.
    fn add(&mut self, file: ArchivedFile<'_>) -> io::Result<()> {
        if !self.write(file)? {
            self.n_left_out += 1;
        }
        Ok(())
    }

    /// Writes a file. Returns false if its name or its size is not accepted.
    fn write(&mut self, file: ArchivedFile<'_>) -> io::Result<bool> {
        let ArchivedFile { name, len, modified, stream } = file;
        let path = inner_path(&name).map(|path| self.root.join(path));
        let Some(path) = path.filter(|_| len.is_none_or(|len| len <= MAX_SESSION_BYTES)) else {
            return Ok(false);
        };
        if self.files.files_left == 0 {
            return Err(io::Error::other(format!(
                "archives may hold {MAX_FILES} session files together; give fewer at a time"
            )));
        }
        let Some(mut output) = create(&path)? else {
            return Ok(false);
        };
        self.files.files_left -= 1;
        let most = self.files.bytes_left.min(MAX_SESSION_BYTES);
        let copied = io::copy(&mut stream.take(most + 1), &mut output);
        let n = copied.inspect_err(|_| remove(&path))?;
        if n <= most && len.is_some_and(|len| n < len) {
            remove(&path);
            return Err(io::Error::other("it is truncated"));
        }
        if n > most {
            remove(&path);
            if most == MAX_SESSION_BYTES {
                return Ok(false);
            }
            return Err(io::Error::other(format!(
                "archives may hold {} GiB together; give fewer at a time",
                MAX_BYTES >> 30
            )));
        }
        self.files.bytes_left -= n;
        if let Some(modified) = modified.or(self.modified) {
            // Only the order of a list depends on it.
            let _ = output.set_modified(modified);
        }
        Ok(true)
    }
}

/// Creates a file in the folder of an archive. Returns `None` for a name that the file system does not accept. A file that the
/// archive lists again replaces the first.
fn create(path: &Path) -> io::Result<Option<File>> {
    remove(path);
    let created =
        create_private_folder(parent_folder(path)).and_then(|()| create_private_file(path));
    match created {
        Ok(file) => Ok(Some(file)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ) =>
        {
            Err(error)
        }
        Err(_) => Ok(None),
    }
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

fn cannot_store(name: &str, error: &io::Error) -> LoadError {
    LoadError(format!(
        "cannot store {name} in a temporary folder ({error}); {} names another one",
        TemporaryFolder::VARIABLE
    ))
}

/// Returns whether a path of an archive is that of a session, as a search of its folder would find it.
fn is_session(path: &str) -> bool {
    let mut names = path.rsplit(['/', MAIN_SEPARATOR]);
    // A manifest tells which files Plimsoll wrote, and a log has the newest messages of a database.
    let is_wanted = |name: &str| {
        let database = name.strip_suffix("-wal").unwrap_or(name);
        may_hold_session(database) || name.ends_with(MANIFEST)
    };
    let is_named = names.next().is_some_and(is_wanted);
    // Names that lead outside are left out later, with a note.
    is_named && names.all(|folder| matches!(folder, "." | "..") || is_searched(folder))
}

/// Returns the path of a file relative to the folder of its archive; `None` if the name leads outside of it.
fn inner_path(name: &str) -> Option<PathBuf> {
    // A colon on Windows names a drive or a second stream of a file.
    let is_plain = |name: &str| !(name.contains('\0') || cfg!(windows) && name.contains(':'));
    let (mut path, mut depth) = (PathBuf::new(), 0);
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) if part.to_str().is_some_and(is_plain) => {
                path.push(part);
                depth += 1;
            }
            Component::CurDir => {}
            _ => return None,
        }
    }
    (1..=MAX_DEPTH).contains(&depth).then_some(path)
}
