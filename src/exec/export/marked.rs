//! Writes files with a manifest that marks them as written by Plimsoll.

use super::sidecars::sidecar_base;
use crate::exec::files::{StagedFile, sha256, write_error};
use crate::exec::outputs::manifest_path;
use crate::formats::Format;
use crate::json::json;
use crate::session::Session;
use std::path::Path;

/// Puts a staged context or conversion in place, with a manifest that marks it as written by this command.
///
/// # Errors
/// Returns one line if a file cannot be written; then none is left.
pub(crate) fn commit_marked(
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
    let written = StagedFile::private(&path, &text).and_then(|file| file.commit_unfinished(&path));
    let unfinished = written.map_err(|error| write_error(&path, &error))?;
    staged.commit(output, vec![unfinished]).map_err(|error| {
        let _ = std::fs::remove_file(&path);
        write_error(output, &error)
    })
}
