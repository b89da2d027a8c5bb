//! Folders for copies: each holds a file that its process keeps locked, so that what a killed process left behind can be
//! told from what is in use, and is taken away before the next copy is made.
//!
//! Nothing is taken but files of the names that a copy has, in a folder of ours, without following links; a folder that
//! holds anything else stays.

use crate::exec::unfinished::{self, Kind, Unfinished};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// What the names of the folders begin with; some letters and digits follow.
const PREFIX: &str = "plimsoll-copy-";
const RANDOM: usize = 6;
/// The file that is locked.
const LOCK: &str = "in-use";
/// The copy.
pub(super) const COPY: &str = "copy";
/// All that a folder may hold, the lock last: it says whose the rest is.
const NAMES: [&str; 4] = [COPY, "copy-wal", "copy-shm", LOCK];
/// A younger folder may be one that is being made.
const YOUNG: Duration = Duration::from_mins(1);
/// No more entries of the folder for such folders are looked at.
const MOST: usize = 20_000;

/// A folder for a copy; it goes with this.
#[derive(Debug)]
pub(super) struct Folder {
    // Closed before the folder is taken away.
    _lock: File,
    holder: TempDir,
    _unfinished: Unfinished,
}

impl Folder {
    /// Makes one, and takes away what killed processes left.
    pub(super) fn new() -> io::Result<Self> {
        let mut named = tempfile::Builder::new();
        // Nobody else may read it, whatever others may read usually.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            named.permissions(fs::Permissions::from_mode(0o700));
        }
        named.prefix(PREFIX).rand_bytes(RANDOM);
        let made = unfinished::create(
            Kind::Folder,
            || named.tempdir(),
            |folder| folder.path().to_owned(),
        );
        let (folder, unfinished) = made?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        lock.lock()?;
        clear_beside(folder.path());
        Ok(Self {
            _lock: lock,
            holder: folder,
            _unfinished: unfinished,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.holder.path()
    }
}

/// Takes away what lies beside a folder of ours and nobody uses any more. What cannot be taken stays.
fn clear_beside(own: &Path) {
    let (Some(around), Ok(own_metadata)) = (own.parent(), fs::symlink_metadata(own)) else {
        return;
    };
    let entries = fs::read_dir(around).into_iter().flatten().take(MOST);
    for entry in entries.flatten() {
        let path = entry.path();
        let is_named = entry.file_name().to_str().is_some_and(is_name);
        let metadata = fs::symlink_metadata(&path).ok().filter(|_| is_named);
        if metadata.is_some_and(|found| is_ours(&found, &own_metadata)) {
            clear(&path);
        }
    }
}

fn is_name(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX);
    random.is_some_and(|r| r.len() == RANDOM && r.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// A folder that the same person made, closed to others.
#[cfg(unix)]
fn is_ours(found: &Metadata, own: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.is_dir() && found.uid() == own.uid() && found.mode() & 0o777 == 0o700
}

#[cfg(not(unix))]
fn is_ours(found: &Metadata, _own: &Metadata) -> bool {
    found.is_dir()
}

/// Takes away one of these folders if it holds nothing but a copy that nobody uses.
fn clear(folder: &Path) -> Option<()> {
    let entries: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()
        .ok()?;
    let is_known = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        is_file && name.is_some_and(|name| NAMES.contains(&name))
    };
    let path = folder.join(LOCK);
    let made = fs::symlink_metadata(&path).ok()?.modified().ok()?;
    let age = SystemTime::now().duration_since(made).ok()?;
    if age < YOUNG || !entries.iter().all(is_known) {
        return None;
    }
    let lock = File::open(&path).ok()?;
    lock.try_lock().ok()?;
    for name in NAMES {
        let file = folder.join(name);
        if entries.contains(&file) {
            fs::remove_file(file).ok()?;
        }
    }
    drop(lock);
    // Only an empty one goes.
    fs::remove_dir(folder).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as a process leaves it that is killed, so long ago.
    fn left(around: &Path, name: &str, age: Duration) -> io::Result<PathBuf> {
        let folder = around.join(name);
        fs::create_dir(&folder)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        }
        for name in [COPY, "copy-shm"] {
            fs::write(folder.join(name), "rows")?;
        }
        let lock = File::create(folder.join(LOCK))?;
        lock.set_modified(SystemTime::now() - age)?;
        Ok(folder)
    }

    fn cleared(around: &Path) -> io::Result<()> {
        let own = left(around, "plimsoll-copy-oooooo", Duration::ZERO)?;
        clear_beside(&own);
        fs::remove_dir_all(own)
    }

    const LONG: Duration = Duration::from_hours(1);

    #[test]
    fn what_a_killed_process_left_is_taken_away_and_what_is_in_use_stays() {
        let here = tempfile::tempdir().unwrap();
        let dead = left(here.path(), "plimsoll-copy-dead01", LONG).unwrap();
        let used = left(here.path(), "plimsoll-copy-used01", LONG).unwrap();
        let made = left(here.path(), "plimsoll-copy-made01", Duration::ZERO).unwrap();
        let held = File::open(used.join(LOCK)).unwrap();
        held.lock().unwrap();
        cleared(here.path()).unwrap();
        assert!(!dead.exists());
        assert!(used.join(COPY).exists() && made.join(COPY).exists());
        drop(held);
        cleared(here.path()).unwrap();
        assert!(!used.exists());
    }

    #[test]
    fn folders_that_are_not_a_copy_to_the_letter_are_left_alone() {
        let here = tempfile::tempdir().unwrap();
        let more = left(here.path(), "plimsoll-copy-more01", LONG).unwrap();
        fs::write(more.join("diary.txt"), "dear").unwrap();
        let other = left(here.path(), "plimsoll-notes1", LONG).unwrap();
        let longer = left(here.path(), "plimsoll-copy-longer1", LONG).unwrap();
        let bare = left(here.path(), "plimsoll-copy-bare01", LONG).unwrap();
        fs::remove_file(bare.join(LOCK)).unwrap();
        cleared(here.path()).unwrap();
        for folder in [more, other, longer, bare] {
            assert!(folder.join(COPY).exists(), "{}", folder.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_is_closed_to_others_and_is_known_as_ours() {
        let folder = Folder::new().unwrap();
        let metadata = fs::symlink_metadata(folder.path()).unwrap();
        assert!(is_ours(&metadata, &metadata), "{metadata:?}");
        let name = folder.path().file_name().and_then(|name| name.to_str());
        assert!(name.is_some_and(is_name), "{name:?}");
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed_and_a_folder_open_to_others_stays() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let (here, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let target = left(away.path(), "plimsoll-copy-away01", LONG).unwrap();
        symlink(&target, here.path().join("plimsoll-copy-link01")).unwrap();
        let linked = left(here.path(), "plimsoll-copy-file01", LONG).unwrap();
        fs::remove_file(linked.join(COPY)).unwrap();
        symlink(target.join(COPY), linked.join(COPY)).unwrap();
        let open = left(here.path(), "plimsoll-copy-open01", LONG).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        cleared(here.path()).unwrap();
        assert!(target.join(COPY).exists() && open.join(COPY).exists());
        assert!(linked.join(LOCK).exists());
    }
}
