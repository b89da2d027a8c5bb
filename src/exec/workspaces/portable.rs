//! Portable workspaces: files in the folder of their session.
//!
//! A portable workspace contains the name, size and hash of its session but no path, so that both can be moved
//! together. The file of that name is tried first and may have grown; otherwise any file of the folder with the same
//! content is taken.

use super::session_key::{MAX_BYTES, MAX_SESSION, SessionKey, check_size, read_workspace};
use crate::exec::files::{LoadError, parent_folder, read_bounded, write_file};
use crate::session::FileBytes;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of files in a folder that are compared with the session of a workspace. A file is hashed only if its
/// size fits, so nearly all cost one system call.
const MAX_COMPARED: usize = 1_000;
/// Start of every workspace.
const START: &[u8] = b"{\"plimsoll_workspace\":";

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
    let is_small = path.metadata().is_ok_and(|m| m.is_file() && m.len() <= MAX_BYTES as u64);
    if !is_small || !read_bounded(path, MAX_BYTES as u64)?.starts_with(START) {
        return Ok(None);
    }
    let shown = path.display();
    let (text, key) = read_workspace(path).map_err(|_unreadable| {
        LoadError(format!(
            "cannot read {shown}: the workspace is damaged or of a newer version of plimsoll"
        ))
    })?;
    let folder = parent_folder(path);
    let named = Path::new(&key.name).file_name().map(|name| folder.join(name));
    let named = named.filter(|named| named.is_file());
    if let Some(named) = named.as_ref().filter(|named| has_content(named, &key, true)) {
        return Ok(Some(opened(text, key, named)));
    }
    let files = fs::read_dir(folder).into_iter().flatten();
    let files = files.take(MAX_COMPARED).filter_map(|e| Some(e.ok()?.path()));
    if let Some(found) = files.into_iter().find(|file| has_content(file, &key, false)) {
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
    use crate::exec::workspaces::session_key::tests::{content, text};

    #[test]
    fn a_portable_workspace_finds_its_session_by_name_or_content_and_rejects_another() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("w.json"), text(b"one")).unwrap();
        let open = || open_workspace(&at("w.json"));
        assert!(open().unwrap_err().to_string().contains("needs its session"));
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
        assert!(open().unwrap_err().to_string().contains("damaged or of a newer version"));
    }
}
