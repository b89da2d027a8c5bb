//! Restores the source of an export byte for byte from the managed file, the removed records and the manifest.

use super::manifest::{Recipe, restored_source};
use super::removed::RemovedRecord;
use crate::exec::files::{
    MAX_SESSION_BYTES, is_taken, parent_folder, read_bounded, sha256, write_private_file,
};
use crate::exec::outputs::{MANIFEST, MAX_MANIFEST_BYTES, manifest_path, removed_path};
use crate::figure::counted;
use serde::Deserialize;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// Maximum number of entries of a folder that are searched for manifests.
const MAX_ENTRIES: usize = 100_000;

/// A restored source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The written file.
    pub output: PathBuf,
    /// Length in bytes.
    pub bytes: usize,
    /// Original name of the source.
    pub source: String,
}

/// Restores the source of a managed file and writes it to `output` or, by default, next to the managed file under the
/// name of the source, with `-restored` appended if that is taken.
///
/// # Errors
/// Returns one line that names the file that is missing or changed; then nothing was written.
pub fn restore(managed: &Path, output: Option<&Path>) -> Result<Restored, String> {
    check_exists(managed)?;
    let kept = read(managed, MAX_SESSION_BYTES)?;
    let (manifest, recipe) = manifest_of(managed, &sha256(&kept))?;
    let sidecar = sidecar(&manifest, &recipe);
    let lines = read(&sidecar, MAX_SESSION_BYTES)?;
    check_unchanged(&sidecar, &lines, &recipe.removed.sha256)?;
    let numbered = lines.split(|byte| *byte == b'\n').enumerate();
    let filled = numbered.filter(|(_, line)| !line.is_empty());
    let mut removed = filled.map(|(idx, line)| {
        let invalid = |_| format!("{}: line {} is invalid", sidecar.display(), idx + 1);
        serde_json::from_slice::<RemovedRecord>(line).map_err(invalid)
    });
    let bytes = restored_source(&recipe, &kept, &mut removed)?;
    removed.try_for_each(|entry| entry.map(drop))?;
    drop(lines);
    if sha256(&bytes) != recipe.source.sha256 {
        return Err(format!(
            "the restored content is not {} (its hash differs); nothing was written",
            recipe.source.name
        ));
    }
    let output = match output {
        Some(output) => output.to_owned(),
        None => default_output(managed, &recipe.source.name),
    };
    write_private_file(&output, &bytes)?;
    Ok(Restored { output, bytes: bytes.len(), source: recipe.source.name })
}

/// Returns the name of the source of a managed conversation that is unchanged since its export.
pub fn source_of_managed(path: &Path) -> Option<String> {
    let manifest = Some(manifest_path(path)).filter(|manifest| manifest.is_file())?;
    let recipe = recipe(&manifest).ok()?;
    let sha = sha256(&read(path, MAX_SESSION_BYTES).ok()?);
    (sha == recipe.managed.sha256).then_some(recipe.source.name)
}

/// Checks that the managed file exists. If only its manifest does, it was renamed or its export was interrupted.
fn check_exists(managed: &Path) -> Result<(), String> {
    if managed.exists() || !manifest_path(managed).exists() {
        return Ok(());
    }
    Err(format!(
        "{} does not exist; give its current name or, if its export was interrupted, use the source, which is unchanged",
        managed.display()
    ))
}

/// Finds the manifest of a managed file by the hash of the file: the one of its name or, if the file was renamed, the
/// newest match in its folder.
fn manifest_of(managed: &Path, sha: &str) -> Result<(PathBuf, Recipe), String> {
    let own = manifest_path(managed);
    let is_own = own.exists();
    if is_own {
        let recipe = recipe(&own)?;
        if recipe.managed.sha256 == sha {
            return Ok((own, recipe));
        }
    }
    let others = manifests_in(parent_folder(managed));
    let n_others = others.len() - usize::from(is_own);
    let found = others.into_iter().find_map(|path| {
        let recipe = recipe(&path).ok()?;
        (recipe.managed.sha256 == sha).then_some((path, recipe))
    });
    found.ok_or_else(|| match (is_own, n_others) {
        (true, _) => changed(managed),
        (false, 0) => format!(
            "{}: there is no {} in its folder; give a file that `compact` wrote, with its manifest and removed records in the same folder",
            managed.display(),
            own.file_name().unwrap_or_default().display()
        ),
        (false, n) => format!(
            "{}: none of the {} in its folder matches its content; give a file that `compact` wrote and that is unchanged since",
            managed.display(),
            counted(n, "manifest")
        ),
    })
}

/// Lists the manifests in a folder, newest first.
fn manifests_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let manifest = |entry: DirEntry| {
        let is_named = entry.file_name().to_str()?.ends_with(MANIFEST);
        let metadata = entry.metadata().ok().filter(|_| is_named)?;
        let modified = metadata.is_file().then(|| metadata.modified().ok())?;
        Some((modified, entry.path()))
    };
    let mut manifests: Vec<_> = entries.take(MAX_ENTRIES).filter_map(manifest).collect();
    manifests.sort_unstable_by(|a, b| b.cmp(a));
    manifests.into_iter().map(|(_, path)| path).collect()
}

/// Returns the sidecar next to a manifest: named like the manifest or, if that was renamed, as the manifest states.
/// Only the last segment of a stated path is used, since a manifest may contain anything.
fn sidecar(manifest: &Path, recipe: &Recipe) -> PathBuf {
    let own = removed_path(&manifest.with_extension(""));
    let name = Path::new(&recipe.removed.name).file_name();
    let stated = name.map(|name| manifest.with_file_name(name));
    stated.filter(|stated| !own.exists() && stated.exists()).unwrap_or(own)
}

/// The manifest of a context or a conversion, which nothing can be restored from.
#[derive(Deserialize)]
struct Complete {
    /// The command.
    written_by: String,
    source: SourceName,
}

#[derive(Deserialize)]
struct SourceName {
    name: String,
}

fn recipe(manifest: &Path) -> Result<Recipe, String> {
    let bytes = read(manifest, MAX_MANIFEST_BYTES)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let shown = manifest.display();
        match serde_json::from_slice(&bytes) {
            Ok(Complete { written_by, source }) => format!(
                "{shown}: `{written_by}` wrote this file, so there is nothing to restore; its source is {}",
                source.name
            ),
            Err(_) => format!("{shown} is not an export manifest ({error})"),
        }
    })
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    read_bounded(path, most).map_err(|error| error.to_string())
}

fn check_unchanged(path: &Path, bytes: &[u8], sha: &str) -> Result<(), String> {
    if sha256(bytes) == sha {
        return Ok(());
    }
    Err(changed(path))
}

fn changed(path: &Path) -> String {
    format!(
        "{} has changed since it was written, so the source cannot be restored from it",
        path.display()
    )
}

/// Returns the default output: the name of the source next to the managed file. Only the last segment of a stated path
/// is used.
fn default_output(managed: &Path, name: &str) -> PathBuf {
    let folder = managed.parent().unwrap_or(Path::new(""));
    let name = Path::new(name).file_name().unwrap_or(managed.as_os_str());
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    let extension = Path::new(name).extension().map(|e| format!(".{}", e.to_string_lossy()));
    let extension = extension.unwrap_or_default();
    let numbered = (2..u32::MAX).map(|n| folder.join(format!("{stem}-restored-{n}{extension}")));
    [folder.join(name), folder.join(format!("{stem}-restored{extension}"))]
        .into_iter()
        .chain(numbered)
        .find(|path| !is_taken(path))
        .unwrap_or_else(|| folder.join(name))
}
