//! Files that a policy writes next to the conversation, in a folder chosen by the user. Nothing outside the folder is
//! written, and nothing is overwritten.

use crate::engine::{Case, Event, FileContent, NewFile};
use crate::exec::files::unfinished::{self, Unfinished, UnfinishedKind};
use crate::exec::files::{StagedFile, sha256, write_error};
use crate::formats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that a policy wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// Path below the folder, separated by `/`.
    pub name: String,
    /// Length in bytes.
    pub bytes: usize,
    /// SHA-256 hash.
    pub sha256: String,
}

/// Files written for an export. They are removed on drop unless the export succeeded.
#[derive(Debug, Default)]
pub(super) struct PolicyFiles {
    pub(super) written: Vec<WrittenFile>,
    created: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Paths that a signal removes.
    pub(super) unfinished: Vec<Unfinished>,
    is_kept: bool,
}

impl PolicyFiles {
    /// Writes all files of a run.
    ///
    /// # Errors
    /// Returns one line if a file cannot be written; the files written so far are removed.
    pub(super) fn write(folder: &Path, case: &Case, events: &[Event]) -> Result<Self, String> {
        let mut files = Self::default();
        for (name, bytes) in contents(case, events)? {
            let path = below(folder, &name)?;
            files.create_folder(path.parent().unwrap_or(folder))?;
            let written =
                StagedFile::private(&path, &bytes).and_then(|file| file.commit_unfinished(&path));
            let unfinished = written.map_err(|error| write_error(&path, &error))?;
            files.unfinished.push(unfinished);
            files.created.push(path);
            files.written.push(WrittenFile { name, bytes: bytes.len(), sha256: sha256(&bytes) });
        }
        Ok(files)
    }

    /// Keeps the files of a successful export and returns their descriptions.
    pub(super) fn keep(mut self) -> Vec<WrittenFile> {
        self.is_kept = true;
        std::mem::take(&mut self.written)
    }

    fn create_folder(&mut self, folder: &Path) -> Result<(), String> {
        if folder.is_dir() {
            return Ok(());
        }
        if let Some(parent) = folder.parent().filter(|p| !p.as_os_str().is_empty()) {
            self.create_folder(parent)?;
        }
        let create = || fs::create_dir(folder);
        let created =
            unfinished::create(UnfinishedKind::EmptyFolder, create, |()| folder.to_owned());
        let ((), unfinished) = created.map_err(|error| write_error(folder, &error))?;
        self.unfinished.push(unfinished);
        self.folders.push(folder.to_owned());
        Ok(())
    }
}

impl Drop for PolicyFiles {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for path in &self.created {
            let _ = fs::remove_file(path);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Returns the final content of each file, after appending to it and replacing it in the order of the events.
fn contents(case: &Case, events: &[Event]) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut contents: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for file in events.iter().flat_map(|event| &event.files) {
        let bytes = bytes_of(case, file)?;
        let known = contents.entry(file.name.clone()).or_default();
        if !file.appends {
            known.clear();
        }
        known.extend(bytes);
    }
    Ok(contents)
}

fn bytes_of(case: &Case, file: &NewFile) -> Result<Vec<u8>, String> {
    match &file.content {
        FileContent::Text(text) => Ok(text.as_bytes().to_vec()),
        FileContent::Bytes(bytes) => Ok(bytes.to_vec()),
        FileContent::Part(part) => formats::media_bytes(&case.session, *part as usize)
            .ok_or_else(|| format!("the session does not contain the payload of {}", file.name)),
    }
}

/// Maximum length of a file name that every file system accepts, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Names of devices on Windows.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Returns the path of a name below a folder. Rejects names that lead out of the folder or that a platform does not allow.
fn below(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let is_bad = |piece: &str| {
        let stem = piece.split('.').next().unwrap_or_default().to_lowercase();
        let is_device = DEVICES.contains(&stem.trim_end_matches(|c: char| c.is_ascii_digit()));
        let is_dots = piece.chars().all(|c| c == '.' || c == ' ');
        let has_bad = |c: char| c.is_control() || "\\:*?\"<>|".contains(c);
        is_dots || is_device || piece.len() > MAX_NAME_BYTES || piece.contains(has_bad)
    };
    if name.split('/').any(is_bad) {
        return Err(format!("{name:?} is not a valid file name"));
    }
    Ok(name.split('/').fold(folder.to_owned(), |path, piece| path.join(piece)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let folder = Path::new("/x/files");
        for name in [
            "../a",
            "a/../../b",
            "/etc/passwd",
            "a\\b",
            "C:evil",
            "",
            ".",
            "a/ /b",
            "con.txt",
            "nul",
            "a\nb",
        ] {
            assert!(below(folder, name).is_err(), "{name:?}");
        }
        assert!(below(folder, &"n".repeat(300)).is_err());
        let good = below(folder, "memory/daily.md").unwrap();
        assert_eq!(good, Path::new("/x/files/memory/daily.md"));
        assert!(below(folder, "kubectl_logs_c\u{e9}.txt").is_ok());
    }
}
