//! Detects whether a file has changed since it was read.
//!
//! Size and time miss a file that is replaced by one of equal size within a tick of the clock, so the inode is
//! compared, too. The content is not hashed: sessions have hundreds of megabytes and are checked again and again.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Size, time and inode of a file: different after the file grew, was truncated, or was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Inode. On platforms without inodes, the time of creation in nanoseconds.
    file: u64,
    /// Size and time of a database's write-ahead log (`-wal`), which receives new data first.
    log: Option<(u64, Option<SystemTime>)>,
}

impl Stamp {
    /// Returns the stamp of a file, or `None` if the path is not a regular file.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            file: file_number(&metadata),
            log: log_of(path),
        })
    }

    /// Returns the stamp as text, for files of the program.
    pub(crate) fn text(&self) -> String {
        let nanos = |time: Option<SystemTime>| {
            let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.map_or(0, |since| since.as_nanos())
        };
        let log = self.log.map(|(bytes, time)| (bytes, nanos(time)));
        let (bytes, time, file) = (self.bytes, nanos(self.modified), self.file);
        format!("{bytes} {time} {file} {log:?}")
    }
}

fn log_of(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let metadata = fs::metadata(log).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.len(), metadata.modified().ok()))
}

#[cfg(unix)]
fn file_number(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.ino()
}

#[cfg(not(unix))]
fn file_number(metadata: &fs::Metadata) -> u64 {
    let since = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grew_was_truncated_or_was_replaced_has_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        assert_eq!(Stamp::of(&path), None);
        fs::write(&path, "one").unwrap();
        let first = Stamp::of(&path).unwrap();
        assert_eq!(Stamp::of(&path), Some(first));
        fs::write(&path, "one two").unwrap();
        let grown = Stamp::of(&path).unwrap();
        assert_ne!(grown, first);
        fs::write(folder.path().join("a.jsonl-wal"), "log").unwrap();
        let logged = Stamp::of(&path).unwrap();
        assert_ne!(logged, grown);
        let grown = logged;
        fs::write(folder.path().join("b"), "two one").unwrap();
        fs::rename(folder.path().join("b"), &path).unwrap();
        assert_ne!(Stamp::of(&path), Some(grown));
    }
}
