//! Recognizes files that Plimsoll wrote: a manifest next to them states their size and hash. A folder that contains
//! them would count their sources twice.

use super::paths::files_path;
use crate::exec::files::{MAX_SESSION_BYTES, parent_folder, read_bounded, sha256};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// End of the name of a manifest.
pub(crate) const MANIFEST: &str = ".manifest.json";
/// Maximum size of a manifest, in bytes. It has a few dozen bytes per piece of the source.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 256 << 20;

/// Identifies the content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileId {
    /// File name without folder.
    pub(crate) name: String,
    /// Name of the format.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) format: String,
    /// Length in bytes.
    pub(crate) bytes: usize,
    /// SHA-256 hash.
    pub(crate) sha256: String,
}

/// The files that manifests describe.
#[derive(Debug, Default)]
pub(crate) struct OwnOutputs {
    /// Paths and hashes by folder and size.
    files: HashMap<(PathBuf, usize), Vec<(PathBuf, String)>>,
    /// Folders of the files that policies wrote.
    folders: Vec<PathBuf>,
}

/// The part of a manifest that describes the written file.
#[derive(Deserialize)]
struct Stated {
    /// Version of the program.
    #[serde(rename = "plimsoll")]
    _version: String,
    managed: FileId,
}

impl OwnOutputs {
    /// Reads manifests. Other files of such a name are ignored.
    pub(crate) fn new(manifests: &[PathBuf]) -> Self {
        let mut outputs = Self::default();
        for path in manifests {
            let stated = read_bounded(path, MAX_MANIFEST_BYTES).ok();
            let stated = stated.and_then(|bytes| serde_json::from_slice::<Stated>(&bytes).ok());
            let Some(Stated { managed, .. }) = stated else {
                continue;
            };
            let folder = parent_folder(path).to_owned();
            // Only the last segment of a stated path is used, since a manifest may contain anything.
            let name = Path::new(&managed.name).file_name().unwrap_or_default();
            let file = (folder.join(name), managed.sha256);
            let key = (folder, managed.bytes);
            outputs.files.entry(key).or_default().push(file);
            outputs.folders.push(files_path(&path.with_extension("")));
        }
        outputs
    }

    /// Returns whether a file of this size is unchanged since Plimsoll wrote it. It may have been renamed: the source of an
    /// exact copy has the same content, but not its path.
    pub(crate) fn contain(&self, path: &Path, bytes: u64) -> bool {
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        let folder = parent_folder(path).to_owned();
        let files = self.files.get(&(folder.clone(), size));
        let may_be = |stated: &Path| {
            stated == folder.join(path.file_name().unwrap_or_default()) || !stated.exists()
        };
        let mut files = files.into_iter().flatten().filter(|(stated, _)| may_be(stated));
        let mut hash = None;
        files.any(|(_, stated)| {
            let hash = hash.get_or_insert_with(|| {
                let read = read_bounded(path, MAX_SESSION_BYTES);
                read.ok().map(|bytes| sha256(&bytes))
            });
            hash.as_ref() == Some(stated)
        })
    }

    /// Returns whether a file is in a folder of files that a policy wrote.
    pub(crate) fn are_around(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
    }
}
