//! Workspaces of the window: one private JSON file per session in the program's data folder, found by the session's
//! path or content.

mod portable;
mod session_key;

pub use portable::{OpenedWorkspace, open_workspace, write_workspace};
pub use session_key::SessionKey;

use super::files::{LoadError, parent_folder, replace_private, sha256};
use super::state::State;
use crate::session::FileBytes;
use session_key::{check_size, read_workspace};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of kept workspaces. The oldest are removed. All are read to find the workspace of a moved file, which
/// is the reason not to keep thousands.
const MAX_FILES: usize = 100;

/// Size of all kept workspaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspacesSize {
    /// Number of files.
    pub n_files: usize,
    /// Size of the files in bytes.
    pub bytes: u64,
}

/// The folder of kept workspaces.
#[derive(Clone, Debug, Default)]
pub struct Workspaces {
    /// `None` if nothing is kept.
    folder: Option<PathBuf>,
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

    /// Returns the text of a session's workspace: the one of its path if the file is unchanged or has grown, else one
    /// of the same content under another path.
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
            match read_workspace(&own) {
                Ok((text, key)) if key.is_of(bytes, conversation) => return Ok(Some(text)),
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            }
        }
        let is_moved =
            |key: &SessionKey| key.bytes == bytes.len() as u64 && key.is_of(bytes, conversation);
        let others = self.files().into_iter().filter(|file| file.path != own);
        let read = others.filter_map(|file| read_workspace(&file.path).ok());
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

    /// Returns the size of all kept workspaces.
    pub fn size(&self) -> WorkspacesSize {
        let files = self.files();
        WorkspacesSize { n_files: files.len(), bytes: files.iter().map(|file| file.bytes).sum() }
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

#[cfg(test)]
mod tests {
    use super::session_key::MAX_BYTES;
    use super::session_key::tests::{content, text};
    use super::*;

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
        let size = WorkspacesSize { n_files: 1, bytes: text(b"one").len() as u64 };
        assert_eq!(kept.size(), size);
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
        assert_eq!(kept.size().n_files, MAX_FILES);
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
        let mode = kept.files()[0].path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }
}
