//! Manifests: the origin of each part of the tables.

use super::column::ContentHash;
use super::options::{Conditions, TableOptions};
use crate::exec::files::{Hasher, read_bounded, replace};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

/// Folder of the manifests.
const FOLDER: &str = "_manifest";

/// Maximum size of a manifest in bytes. One has 67 for each input, and at most a few thousand inputs.
const MAX_BYTES: u64 = 64 << 20;

/// Origin of a part. It contains no time and no path of the machine, so that the same work writes the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Name of the part.
    pub(super) part: String,
    pub(super) conditions_sha256: String,
    pub(super) conditions: Conditions,
    /// Hashes of the contents that were read, in order.
    pub(super) inputs: Vec<String>,
    /// Hashes of the contents that took too long. `--resume` reads them again.
    pub(super) timed_out: Vec<String>,
    /// Number of rows of `failures`.
    pub(super) failures: usize,
    /// Files of the part.
    pub(super) files: Vec<ManifestFile>,
}

/// A file of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ManifestFile {
    /// Path below the folder.
    pub(super) path: String,
    pub(super) rows: usize,
    pub(super) bytes: u64,
}

impl Manifest {
    /// Returns the contents that the folder has under these conditions, and the number of their failures that stay.
    pub(super) fn known(options: &TableOptions) -> (HashSet<String>, usize) {
        let conditions = options.conditions().sha256();
        let folder = fs::read_dir(options.output.join(FOLDER)).into_iter().flatten().flatten();
        let manifests = folder.filter_map(|entry| Self::read(&entry.path()));
        let (mut known, mut failures) = (HashSet::new(), 0);
        for manifest in manifests.filter(|manifest| manifest.conditions_sha256 == conditions) {
            // Those that took too long are read again.
            failures += manifest.failures.saturating_sub(manifest.timed_out.len());
            let timed_out: HashSet<String> = manifest.timed_out.into_iter().collect();
            known.extend(manifest.inputs.into_iter().filter(|input| !timed_out.contains(input)));
        }
        (known, failures)
    }

    /// Reads a manifest; `None` if the file is not one, such as that of another version.
    fn read(path: &Path) -> Option<Self> {
        let bytes = read_bounded(path, MAX_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes the manifest, the last file of a part. Removes files of an earlier run of the part that this one did not write,
    /// such as failures of files that took too long.
    pub(super) fn write(&self, output: &Path) -> io::Result<()> {
        let folder = output.join(FOLDER);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}.json", self.part));
        let written: HashSet<&str> = self.files.iter().map(|file| &*file.path).collect();
        let before = Self::read(&path).map_or_else(Vec::new, |before| before.files);
        let stale = before.iter().filter(|file| !written.contains(&*file.path));
        for file in stale.filter(|file| self.is_named(&file.path)) {
            // A reader may have removed it.
            let _ = fs::remove_file(output.join(&file.path));
        }
        let mut json = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        json.push('\n');
        replace(&path, json.as_bytes())?;
        if self.timed_out.is_empty() {
            self.remove_slow(output);
        }
        Ok(())
    }

    /// Removes parts of the same contents in which some took too long. This part has the rows of all.
    fn remove_slow(&self, output: &Path) {
        let folder = output.join(FOLDER);
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let slow = Self::read(&entry.path()).filter(|other| {
                !other.timed_out.is_empty()
                    && other.inputs == self.inputs
                    && other.conditions_sha256 == self.conditions_sha256
                    && entry.file_name().to_str() == Some(&*format!("{}.json", other.part))
            });
            let Some(slow) = slow else { continue };
            // A reader may have removed them.
            for file in slow.files.iter().filter(|file| slow.is_named(&file.path)) {
                let _ = fs::remove_file(output.join(&file.path));
            }
            let _ = fs::remove_file(entry.path());
        }
    }

    /// Returns whether a path below the folder is `TABLE/day=DAY/PART.EXTENSION`.
    fn is_named(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        match parts[..] {
            [table, day, file] => {
                TableOptions::table(table).is_some()
                    && day.starts_with("day=")
                    && file == format!("{}.{}", self.part, self.conditions.format)
            }
            _ => false,
        }
    }
}

/// Returns the name of a part: 16 hexadecimal digits of the hash of its contents and conditions. Files that cannot be read
/// have no content and count by their names. Contents that took too long count again, so that a slow run replaces no
/// complete part.
pub(super) fn part_name(
    contents: &[ContentHash],
    unread: &[&str],
    timed_out: &[String],
    conditions: &Conditions,
) -> String {
    let mut contents: Vec<&ContentHash> = contents.iter().collect();
    contents.sort();
    let mut unread = unread.to_vec();
    unread.sort_unstable();
    let mut hasher = Hasher::new();
    for content in contents {
        hasher.update(content.bytes());
    }
    for name in unread {
        hasher.update(name.as_bytes());
        hasher.update(&[0]);
    }
    for content in timed_out {
        hasher.update(b"timed out");
        hasher.update(content.as_bytes());
    }
    hasher.update(conditions.sha256().as_bytes());
    hasher.finish()[..16].to_owned()
}
