//! Files that a policy writes beside the conversation: into a folder that the person chose, never outside it, never
//! over a file that is there.

use super::hash::sha256;
use crate::engine::{Case, Event, FileContent, NewFile};
use crate::exec::place::{Staged, cannot_create};
use crate::exec::unfinished::{self, Kind, Unfinished};
use crate::formats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// Its path below the folder, with `/` between folders.
    pub name: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// Its hash.
    pub sha256: String,
}

/// Files that were written for an export that may still fail: then they are taken away again.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) written: Vec<WrittenFile>,
    made: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// What a signal removes of all that.
    pub(super) unfinished: Vec<Unfinished>,
    is_kept: bool,
}

impl Files {
    /// Writes every file of a run, in the order of its events.
    ///
    /// # Errors
    /// One line; what was written so far is taken away.
    pub(super) fn write(folder: &Path, case: &Case, events: &[Event]) -> Result<Self, String> {
        let mut files = Self::default();
        for (name, bytes) in contents(case, events)? {
            let path = below(folder, &name)?;
            let place = path.parent().unwrap_or(folder);
            files.make_folder(place)?;
            let written = Staged::new(&path, &bytes).and_then(|file| file.put_beside(&path));
            let unfinished = written.map_err(|error| cannot_create(&path, &error))?;
            files.unfinished.push(unfinished);
            files.made.push(path);
            files.written.push(WrittenFile {
                name,
                bytes: bytes.len(),
                sha256: sha256(&bytes),
            });
        }
        Ok(files)
    }

    /// The export is whole: they stay.
    pub(super) fn keep(mut self) -> Vec<WrittenFile> {
        self.is_kept = true;
        std::mem::take(&mut self.written)
    }

    fn make_folder(&mut self, folder: &Path) -> Result<(), String> {
        if folder.is_dir() {
            return Ok(());
        }
        if let Some(parent) = folder.parent().filter(|p| !p.as_os_str().is_empty()) {
            self.make_folder(parent)?;
        }
        let make = || fs::create_dir(folder);
        let created = unfinished::create(Kind::EmptyFolder, make, |()| folder.to_owned());
        let ((), unfinished) = created.map_err(|error| cannot_create(folder, &error))?;
        self.unfinished.push(unfinished);
        self.folders.push(folder.to_owned());
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for path in &self.made {
            let _ = fs::remove_file(path);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// What each file holds at the end: what is added comes behind what was there, all else takes its place, as the
/// system itself would have it.
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
            .ok_or_else(|| format!("the session does not hold the payload of {}", file.name)),
    }
}

/// Longest name of a file that every file system takes, in bytes.
const LONGEST: usize = 255;

/// Names that mean devices on Windows.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// The path of a name below a folder; a name that would lead out of it, or that a platform cannot have, is refused.
fn below(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let is_bad = |piece: &str| {
        let stem = piece.split('.').next().unwrap_or_default().to_lowercase();
        let is_device = DEVICES.contains(&stem.trim_end_matches(|c: char| c.is_ascii_digit()));
        let is_dots = piece.chars().all(|c| c == '.' || c == ' ');
        let has_bad = |c: char| c.is_control() || "\\:*?\"<>|".contains(c);
        is_dots || is_device || piece.len() > LONGEST || piece.contains(has_bad)
    };
    if name.split('/').any(is_bad) {
        return Err(format!("{name:?} is no name for a file"));
    }
    Ok(name
        .split('/')
        .fold(folder.to_owned(), |path, piece| path.join(piece)))
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
