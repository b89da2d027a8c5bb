//! Paths of an export's sidecars, and numbered alternatives of a path.

use crate::exec::files::is_taken;
use std::path::{Path, PathBuf};

/// Returns the path of the sidecar with the removed records of a managed file.
pub(crate) fn removed_path(managed: &Path) -> PathBuf {
    managed.with_extension("removed.jsonl")
}

/// Returns the path of the manifest of a managed file.
pub(crate) fn manifest_path(managed: &Path) -> PathBuf {
    managed.with_extension("manifest.json")
}

/// Returns the folder of a policy's files next to a managed file.
pub fn files_path(managed: &Path) -> PathBuf {
    managed.with_extension("files")
}

/// Returns true if neither the path nor a sidecar of it is taken. Sidecars may be left by an interrupted export.
pub(crate) fn is_free(path: &Path) -> bool {
    let sidecars = [removed_path(path), manifest_path(path), files_path(path)];
    let mut all = sidecars.iter().map(PathBuf::as_path).chain([path]);
    !all.any(is_taken)
}

/// Returns a path and its numbered alternatives: `a.json`, `a-2.json`, `a-3.json`, …
pub(crate) fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let dot = if extension.is_empty() { "" } else { "." };
    let others =
        (2..=u32::MAX).map(move |n| path.with_file_name(format!("{stem}-{n}{dot}{extension}")));
    std::iter::once(path.to_owned()).chain(others)
}
