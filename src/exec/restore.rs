//! Gives back the source of an export, byte for byte: from the managed file, what was taken out, and the manifest.

use super::export::{Recipe, Removed, manifest_path, put_together, removed_path, sha256};
use super::load::{MOST_BYTES, read_bounded};
use super::place::{cannot_create, refuse_nowhere, write_new};
use std::path::{Path, PathBuf};

/// Bytes of a manifest: a few dozen for each piece of the source.
const LONGEST_MANIFEST: u64 = 256 << 20;

/// What came of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The file that was written.
    pub output: PathBuf,
    /// Its length in bytes.
    pub bytes: usize,
    /// The name that the source had.
    pub source: String,
}

/// Puts the source of a managed file together again and writes it as a new file: `output`, or beside the managed file
/// under the source's own name, or with `-restored` behind that where it is taken.
///
/// # Errors
/// One line that names the file that is missing or not what it was; then nothing was written.
pub fn restore(managed: &Path, output: Option<&Path>) -> Result<Restored, String> {
    let recipe = recipe(managed)?;
    let kept = read(managed, MOST_BYTES)?;
    is_same(managed, &kept, &recipe.managed.sha256)?;
    let sidecar = removed_path(managed);
    let lines = read(&sidecar, MOST_BYTES)?;
    is_same(&sidecar, &lines, &recipe.removed.sha256)?;
    let mut removed = Vec::new();
    for (idx, line) in lines.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let entry: Removed = serde_json::from_slice(line)
            .map_err(|_error| format!("{}: line {} cannot be read", sidecar.display(), idx + 1))?;
        removed.push(entry);
    }
    let bytes = put_together(&recipe, &kept, &removed)?;
    if sha256(&bytes) != recipe.source.sha256 {
        return Err(format!(
            "what was put together is not {} (its hash differs); nothing was written",
            recipe.source.name
        ));
    }
    let output = match output {
        Some(output) => output.to_owned(),
        None => free_place(managed, &recipe.source.name),
    };
    if super::is_taken(&output) {
        return Err(format!(
            "{} already exists and is never overwritten; choose another name",
            output.display()
        ));
    }
    refuse_nowhere(&output)?;
    write_new(&output, &bytes).map_err(|error| cannot_create(&output, &error))?;
    Ok(Restored {
        output,
        bytes: bytes.len(),
        source: recipe.source.name,
    })
}

fn recipe(managed: &Path) -> Result<Recipe, String> {
    let path = manifest_path(managed);
    if managed.is_file() && !path.exists() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return Err(format!(
            "{}: there is no {name} beside it; give a file that `compact` wrote, with its manifest and what was taken out beside it",
            managed.display()
        ));
    }
    if !managed.exists() && path.exists() {
        return Err(format!(
            "{} is not there: its export was interrupted, and the sidecars beside it are strays",
            managed.display()
        ));
    }
    let bytes = read(&path, LONGEST_MANIFEST)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| format!("{} is no manifest of an export ({error})", path.display()))
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    read_bounded(path, most).map_err(|error| error.to_string())
}

fn is_same(path: &Path, bytes: &[u8], sha: &str) -> Result<(), String> {
    if sha256(bytes) == sha {
        return Ok(());
    }
    Err(format!(
        "{} has been changed since it was written, so the source cannot be put together from it",
        path.display()
    ))
}

/// The source's name beside the managed file. A name from a manifest may say anything: only its last piece counts.
fn free_place(managed: &Path, name: &str) -> PathBuf {
    let folder = managed.parent().unwrap_or(Path::new(""));
    let name = Path::new(name).file_name().unwrap_or(managed.as_os_str());
    let stem = Path::new(name)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let extension = Path::new(name)
        .extension()
        .map(|e| format!(".{}", e.to_string_lossy()));
    let extension = extension.unwrap_or_default();
    let numbered = (2..u32::MAX).map(|n| folder.join(format!("{stem}-restored-{n}{extension}")));
    [
        folder.join(name),
        folder.join(format!("{stem}-restored{extension}")),
    ]
    .into_iter()
    .chain(numbered)
    .find(|path| !super::is_taken(path))
    .unwrap_or_else(|| folder.join(name))
}
