//! Files that are not finished. An interrupted process would leave them behind: a signal removes them, and what a killed
//! process left is removed before the next file is written beside it.
//!
//! A temporary file has a name of ours and stays locked as long as its process writes it. Only files of such a name are
//! removed later, and only if they are the same user's, not locked, and older than a minute.

mod signals;

use super::place::is_one;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tempfile::NamedTempFile;

/// How the names of temporary files begin and end.
const PREFIX: &str = ".plimsoll-";
const SUFFIX: &str = ".tmp";
/// A younger file may not be locked yet.
const YOUNG: Duration = Duration::from_mins(1);
/// Entries of a folder looked through at most.
const MOST: usize = 20_000;

/// What a signal removes.
static ALL: Mutex<BTreeMap<PathBuf, Kind>> = Mutex::new(BTreeMap::new());

/// What is to be removed at a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A file.
    File,
    /// A folder, if it is empty by then.
    EmptyFolder,
    /// A folder with all that it holds.
    Folder,
}

/// A path that a signal removes. Dropping this keeps the path.
#[derive(Debug, Default)]
pub(super) struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            lock().remove(&self.0);
        }
    }
}

fn lock() -> MutexGuard<'static, BTreeMap<PathBuf, Kind>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a file or folder that is not finished yet.
pub(super) fn create<T>(
    kind: Kind,
    create: impl FnOnce() -> io::Result<T>,
    path: impl FnOnce(&T) -> PathBuf,
) -> io::Result<(T, Unfinished)> {
    signals::watch();
    let mut all = lock();
    let made = create()?;
    let path = absolute(&path(&made));
    all.insert(path.clone(), kind);
    Ok((made, Unfinished(path)))
}

/// Commits what is unfinished, so that a signal comes before or after it. If the commit fails, all stays unfinished until
/// it is dropped.
pub(super) fn finish<T>(
    unfinished: Vec<Unfinished>,
    commit: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let mut all = lock();
    let done = commit()?;
    forget(&mut all, unfinished);
    Ok(done)
}

/// Moves an unfinished file to its place, where it is unfinished still.
pub(super) fn rename(
    unfinished: Unfinished,
    to: &Path,
    commit: impl FnOnce() -> io::Result<()>,
) -> io::Result<Unfinished> {
    let to = absolute(to);
    let mut all = lock();
    commit()?;
    forget(&mut all, vec![unfinished]);
    all.insert(to.clone(), Kind::File);
    Ok(Unfinished(to))
}

fn forget(all: &mut BTreeMap<PathBuf, Kind>, unfinished: Vec<Unfinished>) {
    for mut path in unfinished {
        all.remove(&std::mem::take(&mut path.0));
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Removes all of it, what lies in a folder before the folder; nothing can be added or committed as long as the result is
/// held.
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has such signals"))]
fn remove_all() -> MutexGuard<'static, BTreeMap<PathBuf, Kind>> {
    let all = lock();
    for (path, kind) in all.iter().rev() {
        let _ = match kind {
            Kind::File => fs::remove_file(path),
            Kind::EmptyFolder => fs::remove_dir(path),
            Kind::Folder => fs::remove_dir_all(path),
        };
    }
    all
}

/// A temporary file in a folder, made as the builder says, after what killed processes left there was removed.
pub(super) fn temporary_file(
    mut builder: tempfile::Builder<'_, 'static>,
    folder: &Path,
) -> io::Result<(NamedTempFile, Unfinished)> {
    let open = || {
        let file = builder.suffix(SUFFIX).tempfile_in(folder)?;
        hold(file.as_file());
        Ok(file)
    };
    let made = create(Kind::File, open, |file| file.path().to_owned())?;
    clear_beside(made.0.path());
    Ok(made)
}

/// A builder of temporary files with a name of ours.
pub(super) fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    builder
}

/// The name that stands for a claim on a file's name, whatever its ending.
pub(super) fn claim_path(output: &Path) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    output.with_file_name(format!("{PREFIX}{stem}{SUFFIX}"))
}

/// Makes a new file that stands for a claim.
pub(super) fn claim(path: &Path) -> io::Result<(File, Unfinished)> {
    let open = || {
        let file = File::create_new(path)?;
        hold(&file);
        Ok(file)
    };
    let made = create(Kind::File, open, |_| path.to_owned())?;
    clear_beside(path);
    Ok(made)
}

/// Locks a file as long as it is open; a file system without locks has none.
fn hold(file: &File) {
    let _ = file.try_lock();
}

/// Removes what killed processes left beside a file of ours. What cannot be removed stays.
fn clear_beside(own: &Path) {
    let (Some(folder), Ok(own)) = (own.parent(), fs::symlink_metadata(own)) else {
        return;
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = fs::read_dir(folder).into_iter().flatten().take(MOST);
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if name.is_some_and(|name| name.ends_with(SUFFIX)) {
            let _ = clear(&entry.path(), &own);
        }
    }
}

/// Removes one of these files if nobody writes it any more.
fn clear(path: &Path, own: &Metadata) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let age = SystemTime::now().duration_since(found.modified()?);
    let is_old = age.is_ok_and(|age| age >= YOUNG);
    if !found.is_file() || !is_owner(&found, own) || !is_old {
        return Ok(());
    }
    let file = File::open(path)?;
    file.try_lock()?;
    // Another process may have removed it meanwhile, and a third made a new one.
    if cfg!(unix) && !is_one(&file.metadata()?, &fs::symlink_metadata(path)?) {
        return Ok(());
    }
    fs::remove_file(path)
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

    /// A file as a killed process leaves it, so long ago.
    fn left(folder: &Path, name: &str, age: Duration) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "words").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        path
    }

    const LONG: Duration = Duration::from_hours(1);

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let dead = left(here, ".plimsoll-dead01.tmp", LONG);
        let claimed = left(here, ".plimsoll-a-managed-1.tmp", LONG);
        let others = [
            left(here, ".plimsoll-young1.tmp", Duration::ZERO),
            left(here, ".tmpOther1", LONG),
            left(here, "plimsoll-notes.tmp", LONG),
            left(here, ".plimsoll-notes.md", LONG),
        ];
        let used = left(here, ".plimsoll-used01.tmp", LONG);
        let held = File::open(&used).unwrap();
        held.lock().unwrap();
        let (own, _unfinished) = temporary_file(builder(), here).unwrap();
        assert!(!dead.exists() && !claimed.exists());
        assert!(used.exists() && own.path().exists());
        assert!(others.iter().all(|path| path.exists()));
        drop(held);
        drop(temporary_file(builder(), here).unwrap());
        assert!(!used.exists());
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = left(folder.path(), "diary", LONG);
        let link = folder.path().join(".plimsoll-link01.tmp");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        drop(temporary_file(builder(), folder.path()).unwrap());
        assert!(target.exists() && link.symlink_metadata().is_ok());
    }

    #[test]
    fn what_was_finished_is_removed_no_more() {
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
