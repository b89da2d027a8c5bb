//! Unfinished files: an interrupted process would leave them behind. A signal removes them, and the leftovers of a
//! killed process are removed before the next file is created next to them.
//!
//! A temporary file or folder has a name of ours and stays locked while its process uses it. Only entries of such a
//! name are removed later, and only if they belong to the same user, are not locked, and are older than a minute.

mod signals;
mod temporary_folder;

use super::path::{is_same_inode, parent_folder};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tempfile::NamedTempFile;
pub(crate) use temporary_folder::TemporaryFolder;

/// Start and end of the names of temporary files.
const PREFIX: &str = ".plimsoll-";
const SUFFIX: &str = ".tmp";
/// Age below which a file may not be locked yet. A process locks its file right after creating it; a minute covers one
/// that is stopped in between, and clocks of network drives that are not exact.
const YOUNG: Duration = Duration::from_mins(1);
/// Maximum number of entries of a folder that are searched for leftovers. The search precedes every write, and must not
/// make it slow in a folder of a million files.
const MAX_ENTRIES: usize = 20_000;

/// Paths that a signal removes.
static ALL: Mutex<BTreeMap<PathBuf, UnfinishedKind>> = Mutex::new(BTreeMap::new());

/// How an unfinished path is removed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnfinishedKind {
    /// A file.
    File,
    /// A folder, unless it contains something by then.
    EmptyFolder,
    /// A folder with its contents.
    Folder,
}

/// A path that a signal removes. Dropping this keeps the path.
#[derive(Debug, Default)]
pub(crate) struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            lock().remove(&self.0);
        }
    }
}

fn lock() -> MutexGuard<'static, BTreeMap<PathBuf, UnfinishedKind>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a file or folder and registers it as unfinished.
pub(crate) fn create<T>(
    kind: UnfinishedKind,
    create: impl FnOnce() -> io::Result<T>,
    path: impl FnOnce(&T) -> PathBuf,
) -> io::Result<(T, Unfinished)> {
    signals::watch(remove_all);
    let mut all = lock();
    let made = create()?;
    let path = absolute(&path(&made));
    all.insert(path.clone(), kind);
    Ok((made, Unfinished(path)))
}

/// Runs a commit that makes unfinished paths permanent, so that a signal comes before or after it. If the commit fails,
/// the paths stay unfinished until they are dropped.
pub(crate) fn finish<T>(
    unfinished: Vec<Unfinished>,
    commit: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let mut all = lock();
    let done = commit()?;
    forget(&mut all, unfinished);
    Ok(done)
}

/// Moves an unfinished file to its path, where it is still unfinished.
pub(crate) fn rename(
    unfinished: Unfinished,
    to: &Path,
    commit: impl FnOnce() -> io::Result<()>,
) -> io::Result<Unfinished> {
    let to = absolute(to);
    let mut all = lock();
    commit()?;
    forget(&mut all, vec![unfinished]);
    all.insert(to.clone(), UnfinishedKind::File);
    Ok(Unfinished(to))
}

fn forget(all: &mut BTreeMap<PathBuf, UnfinishedKind>, unfinished: Vec<Unfinished>) {
    for mut path in unfinished {
        all.remove(&std::mem::take(&mut path.0));
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Removes all unfinished paths, the contents of a folder before the folder. Nothing can be added or committed while
/// the result is held.
fn remove_all() -> MutexGuard<'static, BTreeMap<PathBuf, UnfinishedKind>> {
    let all = lock();
    for (path, kind) in all.iter().rev() {
        let _ = match kind {
            UnfinishedKind::File => fs::remove_file(path),
            UnfinishedKind::EmptyFolder => fs::remove_dir(path),
            UnfinishedKind::Folder => fs::remove_dir_all(path),
        };
    }
    all
}

/// Returns whether a path is that of a temporary file or folder of ours, or of a file in such a folder.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_str();
        name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
    })
}

/// Creates a temporary file in a folder after removing the leftovers of killed processes.
pub(super) fn temporary_file(
    mut builder: tempfile::Builder<'_, 'static>,
    folder: &Path,
) -> io::Result<(NamedTempFile, Unfinished)> {
    let open = || {
        let file = builder.suffix(SUFFIX).tempfile_in(folder)?;
        try_lock(file.as_file());
        Ok(file)
    };
    let made = create(UnfinishedKind::File, open, |file| file.path().to_owned())?;
    remove_leftovers(made.0.path());
    Ok(made)
}

/// Returns a builder of temporary files with a name of ours.
pub(super) fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    builder
}

/// Returns the path of the file that claims an output name, whatever its extension.
pub(crate) fn claim_path(output: &Path) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    output.with_file_name(format!("{PREFIX}{stem}{SUFFIX}"))
}

/// Creates the file of a claim; fails if it exists.
pub(crate) fn claim(path: &Path) -> io::Result<(File, Unfinished)> {
    let open = || {
        let file = File::create_new(path)?;
        try_lock(&file);
        Ok(file)
    };
    let made = create(UnfinishedKind::File, open, |_| path.to_owned())?;
    remove_leftovers(path);
    Ok(made)
}

/// Locks a file while it is open. Some file systems have no locks.
fn try_lock(file: &File) {
    let _ = file.try_lock();
}

/// Removes the leftovers of killed processes next to a file or folder of ours, as far as possible.
fn remove_leftovers(own: &Path) {
    let entries = fs::read_dir(parent_folder(own)).into_iter().flatten();
    let Ok(own) = fs::symlink_metadata(own) else {
        return;
    };
    for entry in entries.take(MAX_ENTRIES).flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if name.is_some_and(|name| name.ends_with(SUFFIX)) {
            let _ = remove_leftover(&entry.path(), &own);
        }
    }
}

/// Removes a temporary file or folder if no process uses it any more. Links are not followed.
fn remove_leftover(path: &Path, own: &Metadata) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let lock_path =
        if found.is_dir() { temporary_folder::lock_path(path) } else { path.to_owned() };
    let lock_file = fs::symlink_metadata(&lock_path)?;
    let age = SystemTime::now().duration_since(lock_file.modified()?);
    let is_old = age.is_ok_and(|age| age >= YOUNG);
    if !lock_file.is_file() || !is_owner(&found, own) || !is_old {
        return Ok(());
    }
    let lock = File::open(&lock_path)?;
    lock.try_lock()?;
    // Another process may have removed the file meanwhile, and a third may have created a new one.
    if cfg!(unix) && !is_same_inode(&lock.metadata()?, &fs::symlink_metadata(&lock_path)?) {
        return Ok(());
    }
    if found.is_dir() { temporary_folder::remove(path, lock) } else { fs::remove_file(path) }
}

#[cfg(unix)]
fn is_owner(found: &Metadata, own: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.uid() == own.uid()
}

#[cfg(not(unix))]
fn is_owner(_found: &Metadata, _own: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a file of this age, as a killed process leaves it.
    fn leftover(folder: &Path, name: &str, age: Duration) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "words").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        path
    }

    const OLD: Duration = Duration::from_hours(1);

    #[test]
    fn leftovers_of_a_killed_process_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let abandoned = leftover(here, ".plimsoll-dead01.tmp", OLD);
        let claimed = leftover(here, ".plimsoll-a-managed-1.tmp", OLD);
        let others = [
            leftover(here, ".plimsoll-young1.tmp", Duration::ZERO),
            leftover(here, ".tmpOther1", OLD),
            leftover(here, "plimsoll-notes.tmp", OLD),
            leftover(here, ".plimsoll-notes.md", OLD),
        ];
        let used = leftover(here, ".plimsoll-used01.tmp", OLD);
        let held = File::open(&used).unwrap();
        held.lock().unwrap();
        let (own, _unfinished) = temporary_file(builder(), here).unwrap();
        assert!(!abandoned.exists() && !claimed.exists());
        assert!(used.exists() && own.path().exists());
        assert!(others.iter().all(|path| path.exists()));
        drop(held);
        drop(temporary_file(builder(), here).unwrap());
        assert!(!used.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = leftover(folder.path(), "diary", OLD);
        let link = folder.path().join(".plimsoll-link01.tmp");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        drop(temporary_file(builder(), folder.path()).unwrap());
        assert!(target.exists() && link.symlink_metadata().is_ok());
    }

    #[test]
    fn a_finished_file_is_no_longer_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let is_known = |path: &Path| lock().contains_key(path);
        let (file, unfinished) = temporary_file(builder(), folder.path()).unwrap();
        let temporary = file.path().to_owned();
        assert!(is_known(&temporary));
        let moved = rename(unfinished, &path("sidecar"), || {
            file.persist_noclobber(path("sidecar"))?;
            Ok(())
        });
        assert!(!is_known(&temporary) && is_known(&path("sidecar")));
        let failed = finish(vec![], || Err::<(), _>(io::Error::other("full")));
        assert!(failed.is_err() && is_known(&path("sidecar")));
        finish(vec![moved.unwrap()], || Ok(())).unwrap();
        assert!(!is_known(&path("sidecar")) && path("sidecar").exists());
    }
}
