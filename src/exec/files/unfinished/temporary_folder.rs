//! Private temporary folders, removed on drop, by a signal, or as the leftover of a killed process.

use super::{PREFIX, SUFFIX, Unfinished, UnfinishedKind, create, remove_leftovers};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Name of the file that the process keeps locked.
const LOCK: &str = "in-use";

/// A temporary folder that only its owner can read.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    // Closed before the folder is removed.
    _lock: File,
    folder: TempDir,
    _unfinished: Unfinished,
}

impl TemporaryFolder {
    /// The only files that the folder of a killed process may contain to be removed later: the copy of a database, or a
    /// draft.
    pub(crate) const FILES: [&str; 6] = [
        "copy",
        "copy-wal",
        "copy-shm",
        "managed.jsonl",
        "managed.removed.jsonl",
        "managed.manifest.json",
    ];

    /// The only folder that it may contain: files of archives.
    pub(crate) const UNPACKED: &str = "unpacked";

    /// The environment variable that names the parent folder.
    pub(crate) const VARIABLE: &str = if cfg!(windows) { "TMP" } else { "TMPDIR" };

    /// Creates a folder after removing the leftovers of killed processes.
    pub(crate) fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        builder.prefix(PREFIX).suffix(SUFFIX);
        let (folder, unfinished) = create(
            UnfinishedKind::Folder,
            || builder.tempdir(),
            |folder| folder.path().to_owned(),
        )?;
        let lock = File::create_new(lock_path(folder.path()))?;
        lock.lock()?;
        remove_leftovers(folder.path());
        Ok(Self { _lock: lock, folder, _unfinished: unfinished })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns the path of a folder's lock.
pub(super) fn lock_path(folder: &Path) -> PathBuf {
    folder.join(LOCK)
}

/// Removes the folder of a killed process, whose lock the caller holds. A folder that is open to others or contains any
/// other file is kept.
pub(super) fn remove(folder: &Path, held: File) -> io::Result<()> {
    let paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    let is_known = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => name == LOCK || TemporaryFolder::FILES.contains(&name),
            Ok(found) => found.is_dir() && name == TemporaryFolder::UNPACKED,
            Err(_) => false,
        }
    };
    if !is_private(folder)? || !paths.iter().all(is_known) {
        return Ok(());
    }
    let lock = lock_path(folder);
    for path in paths.iter().filter(|path| **path != lock) {
        // Neither follows links.
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    fs::remove_file(lock)?;
    // Windows removes a file when it is closed.
    drop(held);
    fs::remove_dir(folder)
}

#[cfg(unix)]
fn is_private(folder: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(fs::symlink_metadata(folder)?.mode() & 0o777 == 0o700)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "reads metadata on Unix")]
fn is_private(_folder: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    /// Creates a folder of this age, as a killed process leaves it.
    fn leftover(parent: &Path, name: &str, age: Duration) -> io::Result<PathBuf> {
        let folder = parent.join(name);
        fs::create_dir(&folder)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        }
        for name in ["copy", "copy-shm"] {
            fs::write(folder.join(name), "rows")?;
        }
        let lock = File::create(lock_path(&folder))?;
        lock.set_modified(SystemTime::now() - age)?;
        Ok(folder)
    }

    fn remove_leftovers_in(parent: &Path) -> io::Result<()> {
        let own = leftover(parent, ".plimsoll-oooooo.tmp", Duration::ZERO)?;
        remove_leftovers(&own);
        fs::remove_dir_all(own)
    }

    const OLD: Duration = Duration::from_hours(1);

    #[test]
    fn the_folder_of_a_killed_process_is_removed_and_one_in_use_is_kept() {
        let here = tempfile::tempdir().unwrap();
        let abandoned = leftover(here.path(), ".plimsoll-dead01.tmp", OLD).unwrap();
        let used = leftover(here.path(), ".plimsoll-used01.tmp", OLD).unwrap();
        let young = leftover(here.path(), ".plimsoll-made01.tmp", Duration::ZERO).unwrap();
        fs::create_dir_all(abandoned.join("unpacked/0/talks")).unwrap();
        fs::write(abandoned.join("unpacked/0/talks/a.json"), "{}").unwrap();
        let held = File::open(lock_path(&used)).unwrap();
        held.lock().unwrap();
        remove_leftovers_in(here.path()).unwrap();
        assert!(!abandoned.exists());
        assert!(used.join("copy").exists() && young.join("copy").exists());
        drop(held);
        remove_leftovers_in(here.path()).unwrap();
        assert!(!used.exists());
    }

    #[test]
    fn folders_with_other_names_or_contents_are_kept() {
        let here = tempfile::tempdir().unwrap();
        let more = leftover(here.path(), ".plimsoll-more01.tmp", OLD).unwrap();
        fs::write(more.join("diary.txt"), "dear").unwrap();
        let other = leftover(here.path(), "plimsoll-notes1", OLD).unwrap();
        let no_suffix = leftover(here.path(), ".plimsoll-copy01", OLD).unwrap();
        let no_lock = leftover(here.path(), ".plimsoll-bare01.tmp", OLD).unwrap();
        fs::remove_file(lock_path(&no_lock)).unwrap();
        remove_leftovers_in(here.path()).unwrap();
        for folder in [more, other, no_suffix, no_lock] {
            assert!(folder.join("copy").exists(), "{}", folder.display());
        }
    }

    #[test]
    fn a_new_folder_is_private_and_its_name_is_recognized() {
        let folder = TemporaryFolder::new().unwrap();
        assert!(is_private(folder.path()).unwrap());
        let name = folder.path().file_name().and_then(|name| name.to_str());
        assert!(name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX)));
    }

    #[cfg(unix)]
    #[test]
    fn folders_open_to_others_and_links_are_kept() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let (here, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let open = leftover(here.path(), ".plimsoll-open01.tmp", OLD).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        let target = leftover(away.path(), ".plimsoll-away01.tmp", OLD).unwrap();
        symlink(&target, here.path().join(".plimsoll-link01.tmp")).unwrap();
        let linked = leftover(here.path(), ".plimsoll-file01.tmp", OLD).unwrap();
        fs::remove_file(linked.join("copy")).unwrap();
        symlink(target.join("copy"), linked.join("copy")).unwrap();
        remove_leftovers_in(here.path()).unwrap();
        assert!(target.join("copy").exists() && open.join("copy").exists());
        assert!(lock_path(&linked).exists());
    }
}
