//! Recognizes files that Plimsoll wrote: a manifest next to them states their size and hash. A folder that contains them would
//! count their sources twice.

use super::manifest::FileId;
use super::paths::{files_path, manifest_path};
use super::restore::MAX_MANIFEST_BYTES;
use super::sidecars::sidecar_base;
use crate::exec::files::{
    MAX_SESSION_BYTES, StagedFile, parent_folder, read_bounded, sha256, write_error,
};
use crate::formats::Format;
use crate::session::Session;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// End of the name of a manifest.
pub(in crate::exec) const MANIFEST: &str = ".manifest.json";

/// Puts a staged context or conversion in place, with a manifest that marks it as written by this command.
///
/// # Errors
/// Returns one line if a file cannot be written; then none is left.
pub(in crate::exec) fn commit_marked(
    staged: StagedFile,
    bytes: &[u8],
    output: &Path,
    (command, source, format): (&str, &Session, &Format),
) -> Result<(), String> {
    let path = manifest_path(&sidecar_base(output));
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let manifest = json!({
        "plimsoll": env!("CARGO_PKG_VERSION"),
        "written_by": command,
        "source": {"name": source.source.name, "format": source.source.format},
        "managed": {"name": name, "format": format.name, "bytes": bytes.len(), "sha256": sha256(bytes)},
    });
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| error.to_string())?;
    let written = StagedFile::new(&path, &text).and_then(|file| file.commit_unfinished(&path));
    let unfinished = written.map_err(|error| write_error(&path, &error))?;
    staged.commit(output, vec![unfinished]).map_err(|error| {
        let _ = std::fs::remove_file(&path);
        write_error(output, &error)
    })
}

/// The files that manifests describe.
#[derive(Debug, Default)]
pub(in crate::exec) struct OwnOutputs {
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
    pub(in crate::exec) fn new(manifests: &[PathBuf]) -> Self {
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
    pub(in crate::exec) fn contain(&self, path: &Path, bytes: u64) -> bool {
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
    pub(in crate::exec) fn are_around(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
    }
}
