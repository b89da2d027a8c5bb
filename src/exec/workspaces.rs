//! Workspaces of the window: one private JSON file per session in the program's data folder, found by the session's path
//! or content.

use super::files::{
    LoadError, file_name, parent_folder, read_bounded, replace_private, sha256, write_file,
};
use super::state::State;
use crate::session::{FileBytes, Session};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of kept workspaces.
const MAX_FILES: usize = 100;
/// Maximum size of a workspace, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Maximum number of files in a folder that are compared with the session of a workspace.
const MAX_COMPARED: usize = 1_000;
/// Maximum size of a session that is compared by its content, in bytes.
const MAX_SESSION: u64 = 256 << 20;
/// Start of every workspace.
const START: &[u8] = b"{\"plimsoll_workspace\":";

/// The folder of kept workspaces.
#[derive(Clone, Debug, Default)]
pub struct Workspaces {
    /// `None` if nothing is kept.
    folder: Option<PathBuf>,
}

/// The session of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionKey {
    /// File name.
    pub name: String,
    /// Name of the format.
    pub format: String,
    /// Index of the conversation, from 0.
    pub conversation: usize,
    /// Size of the content.
    pub bytes: u64,
    /// Hash of the content.
    pub sha256: String,
}

/// The part of a workspace that identifies its session.
#[derive(Deserialize)]
struct Header {
    session: SessionKey,
}

/// A portable workspace and the file of its session.
#[derive(Clone, Debug)]
pub struct OpenedWorkspace {
    /// Text of the workspace.
    pub text: String,
    /// Session that the workspace belongs to.
    pub key: SessionKey,
    /// Path of the session.
    pub session: PathBuf,
}

impl SessionKey {
    /// Returns the key of a session.
    pub fn of(path: &Path, session: &Session, conversation: usize) -> Self {
        let bytes = &session.source.bytes;
        Self {
            name: file_name(path),
            format: session.source.format.to_owned(),
            conversation,
            bytes: bytes.len() as u64,
            sha256: sha256(&bytes.whole()),
        }
    }

    /// Returns whether the content is that of the session. A main conversation may have grown.
    pub fn is_of(&self, bytes: &FileBytes, conversation: usize) -> bool {
        let (now, then) = (bytes.len() as u64, self.bytes);
        let may_grow = conversation == 0;
        if self.conversation != conversation || now < then || now > MAX_SESSION {
            return false;
        }
        (now == then || may_grow) && sha256(&bytes.whole()[..then as usize]) == self.sha256
    }
}

impl OpenedWorkspace {
    /// Checks that the workspace was saved for this content.
    ///
    /// # Errors
    /// Returns one line if the content differs.
    pub fn check(&self, bytes: &FileBytes) -> Result<(), LoadError> {
        if self.key.is_of(bytes, self.key.conversation) {
            return Ok(());
        }
        Err(LoadError(format!(
            "the workspace was saved for another content of {}; copy the session it was saved for into the same folder",
            self.session.display()
        )))
    }
}

impl Workspaces {
    /// Returns the workspaces in the data folder of the user.
    pub fn here() -> Self {
        let folder = State::path().map(|state| state.with_file_name("workspaces"));
        Self { folder }
    }

    /// Returns the workspaces in a folder, which need not exist.
    pub fn in_folder(folder: PathBuf) -> Self {
        let folder = Some(folder);
        Self { folder }
    }

    /// Returns whether workspaces are kept.
    pub fn is_kept(&self) -> bool {
        self.folder.is_some()
    }

    /// Returns the folder, if workspaces are kept.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the text of a session's workspace: the one of its path if the file is unchanged or has grown, else one of
    /// the same content under another path.
    ///
    /// # Errors
    /// Returns one line if the workspace of this path is damaged.
    pub fn find(
        &self,
        path: &Path,
        bytes: &FileBytes,
        conversation: usize,
    ) -> Result<Option<String>, LoadError> {
        let Some(own) = self.path_of(path, conversation) else {
            return Ok(None);
        };
        let mut damaged = None;
        if own.is_file() {
            match read(&own) {
                Ok((text, key)) if key.is_of(bytes, conversation) => return Ok(Some(text)),
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            }
        }
        let is_moved =
            |key: &SessionKey| key.bytes == bytes.len() as u64 && key.is_of(bytes, conversation);
        let others = self.files().into_iter().filter(|file| file.path != own);
        let read = others.filter_map(|file| read(&file.path).ok());
        match (read.into_iter().find(|(_, key)| is_moved(key)), damaged) {
            (Some((text, _)), _) => Ok(Some(text)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }

    /// Keeps the workspace of a session and removes the oldest ones beyond the limit.
    ///
    /// # Errors
    /// Returns one line if it is too large or cannot be written.
    pub fn save(&self, path: &Path, conversation: usize, text: &str) -> Result<(), LoadError> {
        let Some(own) = self.path_of(path, conversation) else {
            return Ok(());
        };
        check_size(text)?;
        fs::create_dir_all(parent_folder(&own))
            .and_then(|()| replace_private(&own, text.as_bytes()))
            .map_err(|error| LoadError(format!("cannot keep the workspace ({})", error.kind())))?;
        let mut files = self.files();
        files.sort_by_key(|file| file.written);
        let n_extra = files.len().saturating_sub(MAX_FILES);
        for file in files.iter().filter(|file| file.path != own).take(n_extra) {
            // Another window may have removed it.
            let _ = fs::remove_file(&file.path);
        }
        Ok(())
    }

    /// Returns the number of kept workspaces and their size in bytes.
    pub fn size(&self) -> (usize, u64) {
        let files = self.files();
        (files.len(), files.iter().map(|file| file.bytes).sum())
    }

    /// Removes all workspaces and returns their number.
    ///
    /// # Errors
    /// Returns an error if a workspace cannot be removed.
    pub fn clear(&self) -> io::Result<usize> {
        let files = self.files();
        for file in &files {
            fs::remove_file(&file.path)?;
        }
        Ok(files.len())
    }

    /// Returns the files of workspaces; other files of the folder are ignored.
    fn files(&self) -> Vec<KeptFile> {
        let files = self.folder.as_ref().and_then(|f| fs::read_dir(f).ok());
        let files = files.into_iter().flatten().filter_map(|entry| {
            let path = entry.ok()?.path();
            let metadata = path.symlink_metadata().ok()?;
            is_own_name(&path).then_some(())?;
            metadata.is_file().then(|| KeptFile {
                bytes: metadata.len(),
                written: metadata.modified().ok(),
                path,
            })
        });
        files.collect()
    }

    fn path_of(&self, path: &Path, conversation: usize) -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        let name = format!("{}\n{conversation}", path.display());
        let name = format!("{}.json", sha256(name.as_bytes()));
        Some(self.folder.as_ref()?.join(name))
    }
}

/// A file of the folder.
struct KeptFile {
    path: PathBuf,
    bytes: u64,
    written: Option<SystemTime>,
}

/// Returns whether a name is a hash as [`Workspaces::path_of`] makes it.
fn is_own_name(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let is_hash = stem.is_some_and(|s| s.len() == 64 && s.bytes().all(|b| b.is_ascii_hexdigit()));
    is_hash && path.extension().is_some_and(|end| end == "json")
}

fn check_size(text: &str) -> Result<(), LoadError> {
    if text.len() > MAX_BYTES {
        return Err(LoadError(format!(
            "cannot keep the workspace: it is larger than {MAX_BYTES} bytes"
        )));
    }
    Ok(())
}

/// Returns the message about a damaged workspace, whatever the error.
fn unreadable<E>(_error: E) -> LoadError {
    LoadError("The saved workspace of this file cannot be read.".to_owned())
}

fn read(path: &Path) -> Result<(String, SessionKey), LoadError> {
    let bytes = read_bounded(path, MAX_BYTES as u64).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(unreadable)?;
    let header: Header = serde_json::from_str(&text).map_err(unreadable)?;
    Ok((text, header.session))
}

/// Writes a portable workspace to a new file.
///
/// # Errors
/// Returns one line if it is too large, or the file exists or cannot be written.
pub fn write_workspace(output: &Path, text: &str) -> Result<(), LoadError> {
    check_size(text)?;
    write_file(output, text.as_bytes()).map_err(LoadError)
}

/// Reads a portable workspace and finds its session in the same folder, by name or content. Returns `None` if the file
/// is not a workspace.
///
/// # Errors
/// Returns one line if the workspace is damaged, or its session is missing or differs.
pub fn open_workspace(path: &Path) -> Result<Option<OpenedWorkspace>, LoadError> {
    let is_small = path
        .metadata()
        .is_ok_and(|m| m.is_file() && m.len() <= MAX_BYTES as u64);
    if !is_small || !read_bounded(path, MAX_BYTES as u64)?.starts_with(START) {
        return Ok(None);
    }
    let shown = path.display();
    let (text, key) = read(path).map_err(|_unreadable| {
        LoadError(format!(
            "cannot read {shown}: the workspace is damaged or of a newer version of plimsoll"
        ))
    })?;
    let folder = parent_folder(path);
    let named = Path::new(&key.name)
        .file_name()
        .map(|name| folder.join(name));
    let named = named.filter(|named| named.is_file());
    if let Some(named) = named
        .as_ref()
        .filter(|named| has_content(named, &key, true))
    {
        return Ok(Some(opened(text, key, named)));
    }
    let files = fs::read_dir(folder).into_iter().flatten();
    let files = files
        .take(MAX_COMPARED)
        .filter_map(|e| Some(e.ok()?.path()));
    if let Some(found) = files
        .into_iter()
        .find(|file| has_content(file, &key, false))
    {
        return Ok(Some(opened(text, key, &found)));
    }
    match named {
        // It may be compressed: its content is checked when it is loaded.
        Some(named) => Ok(Some(opened(text, key, &named))),
        None => Err(LoadError(format!(
            "{shown} needs its session {:?}; copy it into the same folder",
            key.name
        ))),
    }
}

fn opened(text: String, key: SessionKey, session: &Path) -> OpenedWorkspace {
    let session = session.to_owned();
    OpenedWorkspace { text, key, session }
}

fn has_content(path: &Path, key: &SessionKey, may_grow: bool) -> bool {
    let is_possible = path.metadata().is_ok_and(|metadata| {
        let n = metadata.len();
        metadata.is_file() && (n == key.bytes || may_grow && n > key.bytes && n <= MAX_SESSION)
    });
    is_possible
        && read_bounded(path, MAX_SESSION)
            .is_ok_and(|bytes| key.is_of(&FileBytes::from(bytes), key.conversation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bytes: &[u8]) -> SessionKey {
        SessionKey {
            name: "a.jsonl".to_owned(),
            format: "f".to_owned(),
            conversation: 0,
            bytes: bytes.len() as u64,
            sha256: sha256(bytes),
        }
    }

    fn text(bytes: &[u8]) -> String {
        let session = serde_json::to_string(&key(bytes)).unwrap();
        format!("{{\"plimsoll_workspace\":1,\"session\":{session}}}")
    }

    fn content(bytes: &[u8]) -> FileBytes {
        bytes.to_vec().into()
    }

    #[test]
    fn a_workspace_is_found_by_path_if_the_file_grew_and_by_content_if_it_moved() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Workspaces::in_folder(folder.path().join("deep"));
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        kept.save(&a, 0, &text(b"one")).unwrap();
        let find = |path: &Path, bytes: &[u8]| kept.find(path, &content(bytes), 0).unwrap();
        assert_eq!(find(&a, b"one"), Some(text(b"one")));
        assert_eq!(find(&a, b"one two"), Some(text(b"one")));
        assert_eq!(find(&a, b"two"), None);
        assert_eq!(find(&b, b"one"), Some(text(b"one")));
        assert_eq!(find(&b, b"one two"), None);
        assert_eq!(kept.find(&a, &content(b"one"), 1).unwrap(), None);
        assert_eq!(kept.size(), (1, text(b"one").len() as u64));
        assert_eq!(kept.clear().unwrap(), 1);
        assert_eq!(find(&a, b"one"), None);
    }

    #[test]
    fn workspaces_are_limited_in_number_and_size_and_damaged_ones_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Workspaces::in_folder(folder.path().to_owned());
        let path = |n: usize| folder.path().join(format!("{n}.jsonl"));
        fs::write(folder.path().join("diary.json"), "mine").unwrap();
        for n in 0..MAX_FILES + 3 {
            kept.save(&path(n), 0, &text(b"one")).unwrap();
        }
        assert_eq!(kept.size().0, MAX_FILES);
        let huge = "x".repeat(MAX_BYTES + 1);
        assert!(kept.save(&path(0), 0, &huge).is_err());
        kept.clear().unwrap();
        assert!(folder.path().join("diary.json").exists());
        for garbage in ["", "{", "\u{0}\u{1}", "{\"session\":{\"bytes\":-1}}"] {
            kept.save(&path(0), 0, garbage).unwrap();
            let found = kept.find(&path(0), &content(b"one"), 0);
            assert!(found.unwrap_err().to_string().contains("cannot be read"));
        }
        let own = kept.path_of(&path(0), 0).unwrap();
        fs::write(&own, huge).unwrap();
        assert!(kept.find(&path(0), &content(b"one"), 0).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_a_workspace() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let kept = Workspaces::in_folder(folder.path().to_owned());
        kept.save(Path::new("a"), 0, &text(b"one")).unwrap();
        let mode = kept.files()[0]
            .path
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0);
    }

    #[test]
    fn a_portable_workspace_finds_its_session_by_name_or_content_and_rejects_another() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("w.json"), text(b"one")).unwrap();
        let open = || open_workspace(&at("w.json"));
        assert!(
            open()
                .unwrap_err()
                .to_string()
                .contains("needs its session")
        );
        fs::write(at("renamed"), "one").unwrap();
        assert_eq!(open().unwrap().unwrap().session, at("renamed"));
        fs::write(at("a.jsonl"), "one two").unwrap();
        assert_eq!(open().unwrap().unwrap().session, at("a.jsonl"));
        fs::write(at("a.jsonl"), "other").unwrap();
        assert_eq!(open().unwrap().unwrap().session, at("renamed"));
        fs::remove_file(at("renamed")).unwrap();
        let differs = open().unwrap().unwrap().check(&content(b"other"));
        assert!(differs.unwrap_err().to_string().contains("another content"));
        assert!(open_workspace(&at("a.jsonl")).unwrap().is_none());
        fs::write(at("w.json"), "{\"plimsoll_workspace\":9}").unwrap();
        assert!(
            open()
                .unwrap_err()
                .to_string()
                .contains("damaged or of a newer version")
        );
    }
}
