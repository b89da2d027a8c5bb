//! The files to read: searched, divided among processes, and named by their content.

use super::column::ContentHash;
use super::options::Shard;
use super::rows::FileOrigin;
use crate::exec::files::{Hasher, is_folder, sha256_bytes, short_reason};
use crate::exec::inputs::Inputs;
use crate::exec::load::{files_of, stamp_of};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// Size of a read in bytes.
const CHUNK: usize = 1 << 20;

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NamedFile {
    /// Path relative to the given folder, with forward slashes.
    pub(super) name: String,
    /// The file, or a folder whose files form one session.
    pub(super) path: PathBuf,
    /// Size in bytes when it was found.
    pub(super) bytes: u64,
}

/// A file whose content is known.
#[derive(Clone, Debug)]
pub(super) struct HashedFile {
    pub(super) path: PathBuf,
    pub(super) origin: FileOrigin,
    /// Differs after the file has changed.
    pub(super) stamp: Option<String>,
}

/// The files of a shard.
#[derive(Debug, Default)]
pub(super) struct ShardFiles {
    /// The files, by name.
    pub(super) files: Vec<NamedFile>,
    /// Paths that cannot be read, with the reason.
    pub(super) unread: Vec<(NamedFile, String)>,
    /// Number of files and paths of all shards.
    pub(super) all: usize,
    /// Number of files below the folder of the tables, which are left out.
    pub(super) n_inside: usize,
}

impl ShardFiles {
    /// Names the files relative to the given paths, and takes those of a shard.
    pub(super) fn new(inputs: &Inputs, given: &[PathBuf], shard: Option<Shard>) -> Self {
        let folders: Vec<&Path> = given.iter().filter_map(|path| folder_of(path)).collect();
        let named = |path: &Path, bytes: u64| NamedFile {
            name: relative_name(&folders, &inputs.shown(path)),
            path: path.to_owned(),
            bytes,
        };
        let found = inputs.files.iter().map(|file| &file.found);
        let mut files: Vec<NamedFile> =
            found.map(|found| named(&found.path, found.size.0)).collect();
        let mut unread: Vec<(NamedFile, String)> = inputs
            .failures
            .iter()
            .map(|failure| {
                let file = named(&failure.path, 0);
                let reason = plain_reason(&failure.reason, &file.path);
                (file, reason)
            })
            .collect();
        // In the order of names, sessions of one day are mostly in one part.
        files.sort();
        files.dedup();
        let all = files.len() + unread.len();
        if let Some(shard) = shard {
            files.retain(|file| shard.contains(&file.name));
            unread.retain(|(file, _)| shard.contains(&file.name));
        }
        Self { files, unread, all, n_inside: 0 }
    }

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
        self.n_inside = before - self.files.len();
    }
}

impl Shard {
    /// Returns whether a path belongs to the shard. Contents would have to be read by every process.
    fn contains(self, name: &str) -> bool {
        let hash = sha256_bytes(name.as_bytes());
        let first = hash.first_chunk().copied().unwrap_or_default();
        u64::from_be_bytes(first) % self.of == self.number - 1
    }
}

/// Returns the folder that names are relative to: a given folder, or the one that contains a given file.
fn folder_of(given: &Path) -> Option<&Path> {
    if is_folder(given) { Some(given) } else { given.parent() }
}

/// Returns a path relative to the folder that contains it, with forward slashes. Of other paths only the name is left if they
/// are absolute or lead upwards: folders may name a user.
fn relative_name(folders: &[&Path], path: &Path) -> String {
    let below = folders.iter().filter_map(|folder| path.strip_prefix(folder).ok());
    let below = below.filter(|below| !below.as_os_str().is_empty());
    let path = below.min_by_key(|below| below.components().count()).unwrap_or(path);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !path.components().all(is_plain) {
        return with_slashes(Path::new(path.file_name().unwrap_or_default()));
    }
    let parts = path.components().filter(|part| *part != Component::CurDir);
    with_slashes(&parts.collect::<PathBuf>())
}

fn with_slashes(path: &Path) -> String {
    path.to_string_lossy().replace(MAIN_SEPARATOR, "/")
}

/// Returns an error without the path and the name of the file, quoted text of the file, and advice.
pub(super) fn plain_reason(error: &str, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut text = error.replace(&path.display().to_string(), "it");
    for named in ["it", &*name] {
        if let Some(rest) = text.strip_prefix(named).and_then(|rest| rest.strip_prefix(": ")) {
            text = rest.to_owned();
        }
    }
    if let Some(rest) = text.strip_prefix(&*name).filter(|rest| rest.starts_with(' ')) {
        text = format!("it{rest}");
    }
    let end = text.find(". Supported are ").unwrap_or(text.len());
    let end = text[..end].find("; ").unwrap_or(end);
    let mut plain = String::new();
    for (nth, piece) in text[..end].split('`').enumerate() {
        plain.push_str(if nth % 2 == 0 { piece } else { "…" });
    }
    // Names of keys.
    match plain.find(" (").filter(|_| plain.starts_with("this looks like JSON")) {
        Some(at) => plain[..at].to_owned(),
        None => plain,
    }
}

impl NamedFile {
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
        let name = |path: &str| relative_name(&[Path::new("/home/me/logs")], Path::new(path));
        assert_eq!(name("/home/me/logs/a/b.jsonl"), "a/b.jsonl");
        assert_eq!(name("/home/me/logs/a.zip/b.jsonl"), "a.zip/b.jsonl");
        let names = ["./a/b.jsonl", "/home/me/b.jsonl", "../b.jsonl"].map(name);
        assert_eq!(names, ["a/b.jsonl", "b.jsonl", "b.jsonl"]);
        assert_eq!(relative_name(&[Path::new(".")], Path::new("./b.jsonl")), "b.jsonl");
    }

    #[test]
    fn a_reason_has_neither_path_nor_text() {
        let plain = |error: &str| plain_reason(error, Path::new("/home/me/a.json"));
        assert_eq!(
            plain(
                "a.json: this looks like JSON without a conversation (keys secret, b). Supported are x"
            ),
            "this looks like JSON without a conversation"
        );
        assert_eq!(
            plain("cannot read /home/me/a.json (permission denied); check its permissions"),
            "cannot read it (permission denied)"
        );
        assert_eq!(plain("a.json is empty"), "it is empty");
        assert_eq!(
            plain(
                "/home/me/a.json: this looks like a list of messages with the unknown role `boss`"
            ),
            "this looks like a list of messages with the unknown role …"
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
