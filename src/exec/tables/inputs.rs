//! The files to read: searched, divided among processes, and named by their content.

use super::column::ContentHash;
use super::options::Shard;
use super::rows::FileOrigin;
use crate::exec::files::{Hasher, LoadError, is_folder, must_exist, sha256_bytes, short_reason};
use crate::exec::load::{files_of, stamp_of};
use crate::exec::stores::find_all_in;
use crate::progress::Progress;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// Size of a read in bytes.
const CHUNK: usize = 1 << 20;

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InputFile {
    /// Path relative to the given folder, with forward slashes.
    pub(super) name: String,
    /// The file, or a folder whose files form one session.
    pub(super) path: PathBuf,
}

/// A file whose content is known.
#[derive(Clone, Debug)]
pub(super) struct HashedFile {
    pub(super) path: PathBuf,
    pub(super) origin: FileOrigin,
    /// Differs after the file has changed.
    pub(super) stamp: Option<String>,
}

/// The files of all given paths.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The files of the shard, by name.
    pub(super) files: Vec<InputFile>,
    /// Number of files of all shards.
    pub(super) all: usize,
    /// Number of files that Plimsoll itself wrote. Their sources count instead.
    pub(super) own_outputs: usize,
}

impl Inputs {
    /// Searches folders. `listed` are files that are read whatever their names are.
    pub(super) fn find(
        paths: &[PathBuf],
        listed: &[PathBuf],
        shard: Option<Shard>,
    ) -> Result<Self, LoadError> {
        let mut found = Self::default();
        for path in paths {
            must_exist(path)?;
            if is_folder(path) {
                let searched = find_all_in(path, &Progress::default())?;
                found.own_outputs += searched.own_outputs.len();
                let named = |file: PathBuf| InputFile { name: name_below(path, &file), path: file };
                found.files.extend(searched.files.into_iter().map(|file| named(file.path)));
            } else {
                found.files.push(InputFile { name: listed_name(path), path: path.clone() });
            }
        }
        let named = |path: &PathBuf| InputFile { name: listed_name(path), path: path.clone() };
        found.files.extend(listed.iter().map(named));
        found.all = found.files.len();
        if let Some(shard) = shard {
            found.files.retain(|file| shard.contains(&file.name));
        }
        // In the order of names, sessions of one day are mostly in one part.
        found.files.sort();
        found.files.dedup();
        Ok(found)
    }
}

impl Inputs {
    /// Leaves out files below the folder of the tables.
    pub(super) fn leave_out(&mut self, output: &Path) {
        let Ok(output) = output.canonicalize() else {
            return;
        };
        let before = self.files.len();
        // Files are sorted: most are in the folder of the one before.
        let mut last: Option<(PathBuf, bool)> = None;
        self.files.retain(|file| {
            let folder = file.path.parent().unwrap_or(Path::new(""));
            let is_inside = match &last {
                Some((known, is_inside)) if known == folder => *is_inside,
                _ => folder.canonicalize().is_ok_and(|folder| folder.starts_with(&output)),
            };
            last = Some((folder.to_owned(), is_inside));
            !is_inside
        });
        self.all -= before - self.files.len();
    }
}

impl Shard {
    /// Returns whether a path belongs to the shard. Contents would have to be read by every process.
    fn contains(self, name: &str) -> bool {
        let hash = sha256_bytes(name.as_bytes());
        let start = hash.first_chunk().map_or(0, |start| u64::from_be_bytes(*start));
        start % self.of == self.number - 1
    }
}

/// Returns the path of a file relative to the folder that contains it; its name if the folder is the file.
fn name_below(folder: &Path, file: &Path) -> String {
    match file.strip_prefix(folder) {
        Ok(below) if !below.as_os_str().is_empty() => with_slashes(below),
        _ => with_slashes(Path::new(file.file_name().unwrap_or_default())),
    }
}

/// Returns a path that is shown as it was given, or only its name if it is absolute or leads upwards: folders may name a user.
fn listed_name(path: &Path) -> String {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.components().all(is_plain) {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        return with_slashes(&parts.collect::<PathBuf>());
    }
    with_slashes(Path::new(path.file_name().unwrap_or_default()))
}

fn with_slashes(path: &Path) -> String {
    path.to_string_lossy().replace(MAIN_SEPARATOR, "/")
}

impl InputFile {
    /// Hashes the content.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read, without its path.
    pub(super) fn hash(&self) -> Result<HashedFile, String> {
        let stamp = stamp_of(&self.path);
        let hashed = hash(&self.path).map_err(|error| short_reason(&error));
        let (sha256, bytes) = hashed.map_err(|reason| format!("cannot be read ({reason})"))?;
        let origin = FileOrigin { sha256, path: self.name.clone(), bytes };
        Ok(HashedFile { path: self.path.clone(), origin, stamp })
    }
}

impl HashedFile {
    /// Returns whether the file is still the one that was hashed.
    pub(super) fn is_unchanged(&self) -> bool {
        self.stamp == stamp_of(&self.path)
    }
}

/// Returns the hash of a single file, or of the names and hashes of the files that form a session, and the size.
fn hash(path: &Path) -> io::Result<(ContentHash, u64)> {
    let mut files = files_of(path);
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // New rows of a database.
    files.extend(Some(PathBuf::from(log)).filter(|log| log.is_file()));
    if let [file] = &files[..] {
        let (sha256, bytes) = hash_file(file)?;
        return Ok((sha256.into(), bytes));
    }
    files.sort();
    let (mut hasher, mut all) = (Hasher::new(), 0);
    for file in files.iter().filter(|file| file.is_file()) {
        let (sha256, bytes) = hash_file(file)?;
        hasher.update(file.file_name().unwrap_or_default().as_encoded_bytes());
        hasher.update(&sha256);
        all += bytes;
    }
    Ok((hasher.finish_bytes().into(), all))
}

fn hash_file(path: &Path) -> io::Result<([u8; 32], u64)> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let (mut hasher, mut all) = (Hasher::new(), 0);
    let mut chunk = Vec::with_capacity(CHUNK);
    loop {
        chunk.clear();
        file.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            return Ok((hasher.finish_bytes(), all));
        }
        hasher.update(&chunk);
        all += chunk.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_and_do_not_show_absolute_paths() {
        assert_eq!(
            name_below(Path::new("/home/me/logs"), Path::new("/home/me/logs/a/b.jsonl")),
            "a/b.jsonl"
        );
        assert_eq!(name_below(Path::new("/home/me/logs"), Path::new("/home/me/logs")), "logs");
        let names = ["./a/b.jsonl", "/home/me/b.jsonl", "../b.jsonl"];
        assert_eq!(
            names.map(|path| listed_name(Path::new(path))),
            ["a/b.jsonl", "b.jsonl", "b.jsonl"]
        );
    }

    #[test]
    fn every_path_is_in_one_shard() {
        let in_shards = |name: &str| {
            (1..=3).filter(|number| Shard { number: *number, of: 3 }.contains(name)).count()
        };
        assert!((0..100).all(|n| in_shards(&format!("{n}.jsonl")) == 1));
    }
}
