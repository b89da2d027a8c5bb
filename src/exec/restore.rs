//! Gives back the source of an export, byte for byte: from the managed file, what was taken out, and the manifest.

use super::counted;
use super::export::{Recipe, Removed, manifest_path, put_together, removed_path, sha256};
use super::load::{MOST_BYTES, read_bounded};
use super::place::{cannot_create, folder_of, refuse_nowhere, write_new};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// Bytes of a manifest: a few dozen for each piece of the source.
const LONGEST_MANIFEST: u64 = 256 << 20;
/// Entries of a folder looked through at most.
const MOST_FILES: usize = 100_000;

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
    refuse_missing(managed)?;
    let kept = read(managed, MOST_BYTES)?;
    let (manifest, recipe) = manifest_of(managed, &sha256(&kept))?;
    let sidecar = sidecar(&manifest, &recipe);
    let lines = read(&sidecar, MOST_BYTES)?;
    is_same(&sidecar, &lines, &recipe.removed.sha256)?;
    let numbered = lines.split(|byte| *byte == b'\n').enumerate();
    let filled = numbered.filter(|(_, line)| !line.is_empty());
    let mut removed = filled.map(|(idx, line)| {
        let unread = |_| format!("{}: line {} cannot be read", sidecar.display(), idx + 1);
        serde_json::from_slice::<Removed>(line).map_err(unread)
    });
    let bytes = put_together(&recipe, &kept, &mut removed)?;
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

/// A managed file that is gone was renamed, or its export was interrupted.
fn refuse_missing(managed: &Path) -> Result<(), String> {
    if managed.exists() || !manifest_path(managed).exists() {
        return Ok(());
    }
    Err(format!(
        "{} does not exist: give its current name, or, if its export was interrupted, use the source, which is unchanged",
        managed.display()
    ))
}

/// Finds the manifest of a managed file by the hash of the file: the one of its name, or the newest other one in its folder,
/// since the file may have been renamed.
fn manifest_of(managed: &Path, sha: &str) -> Result<(PathBuf, Recipe), String> {
    let own = manifest_path(managed);
    let is_own = own.exists();
    if is_own {
        let recipe = recipe(&own)?;
        if recipe.managed.sha256 == sha {
            return Ok((own, recipe));
        }
    }
    let others = manifests_in(folder_of(managed));
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

/// Manifests in a folder, newest first.
fn manifests_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let manifest = |entry: DirEntry| {
        let is_named = entry.file_name().to_str()?.ends_with(".manifest.json");
        let metadata = entry.metadata().ok().filter(|_| is_named)?;
        let modified = metadata.is_file().then(|| metadata.modified().ok())?;
        Some((modified, entry.path()))
    };
    let mut manifests: Vec<_> = entries.take(MOST_FILES).filter_map(manifest).collect();
    manifests.sort_unstable_by(|a, b| b.cmp(a));
    manifests.into_iter().map(|(_, path)| path).collect()
}

/// The sidecar beside a manifest: named like it, or as it says if it was renamed. A manifest may say anything: only the last
/// piece of a path counts.
fn sidecar(manifest: &Path, recipe: &Recipe) -> PathBuf {
    let own = removed_path(&manifest.with_extension(""));
    let name = Path::new(&recipe.removed.name).file_name();
    let said = name.map(|name| manifest.with_file_name(name));
    said.filter(|said| !own.exists() && said.exists())
        .unwrap_or(own)
}

fn recipe(manifest: &Path) -> Result<Recipe, String> {
    let bytes = read(manifest, LONGEST_MANIFEST)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| format!("{} is not an export manifest ({error})", manifest.display()))
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    read_bounded(path, most).map_err(|error| error.to_string())
}

fn is_same(path: &Path, bytes: &[u8], sha: &str) -> Result<(), String> {
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
