//! What stands beside a managed file: what was taken out of the source, and how to put it back.

use super::manifest::{self, FileMark, Told};
use super::{Recipe, Removed, pieces, put_together, removed, session_of, sha256};
use crate::exec::check::Check;
use crate::exec::new_file::refuse_output;
use crate::exec::place::{Staged, cannot_create};
use crate::exec::unfinished::Unfinished;
use crate::exec::{counted, is_taken};
use std::path::{Path, PathBuf};

/// What stands beside a managed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecars {
    /// What was taken out, line by line.
    pub removed: PathBuf,
    /// What was done, and how to undo it.
    pub manifest: PathBuf,
    /// The folder of files that the policy wrote, and how many.
    pub files: Option<(PathBuf, usize)>,
}

/// The sidecar of a managed file that holds what was taken out.
pub(in crate::exec) fn removed_path(managed: &Path) -> PathBuf {
    managed.with_extension("removed.jsonl")
}

/// The manifest of a managed file.
pub(in crate::exec) fn manifest_path(managed: &Path) -> PathBuf {
    managed.with_extension("manifest.json")
}

/// The folder of files beside a managed file.
pub fn files_path(managed: &Path) -> PathBuf {
    managed.with_extension("files")
}

impl Sidecars {
    /// They belong to nothing.
    pub(super) fn take_away(&self) {
        for path in [&self.removed, &self.manifest] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Writes what was taken out and the manifest, after having put the source together again from them. Both are unfinished
/// until the managed file is in place.
pub(super) fn sidecars(
    told: &Told<'_>,
    managed: &[u8],
    checks: &mut Vec<Check>,
) -> Result<(Sidecars, Vec<Unfinished>), String> {
    let (job, case) = (told.job, &told.job.case);
    let source = &case.session.source;
    let bytes = source.bytes.whole();
    let read = session_of(managed);
    let pieces = pieces::pieces(&case.session, managed, read.as_ref());
    let removed = removed::removed(case, &told.outcome.context, &told.outcome.events, &pieces);
    let mut lines = Vec::new();
    for entry in &removed {
        serde_json::to_writer(&mut lines, entry).map_err(|error| error.to_string())?;
        lines.push(b'\n');
    }
    let paths = Sidecars {
        removed: removed_path(&job.output),
        manifest: manifest_path(&job.output),
        files: None,
    };
    let mark = |name: &Path, format: &str, bytes: &[u8]| FileMark {
        name: name
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        format: format.to_owned(),
        bytes: bytes.len(),
        sha256: sha256(bytes),
    };
    let recipe = Recipe {
        source: mark(Path::new(&source.name), source.format, &bytes),
        managed: mark(&job.output, job.format.name, managed),
        removed: mark(&paths.removed, "", &lines),
        restore: manifest::recipe(&pieces),
    };
    checks.push(restores(&recipe, managed, &removed, &bytes));
    let whole = manifest::manifest(told, checks, &recipe);
    let text = serde_json::to_vec_pretty(&whole).map_err(|error| error.to_string())?;
    let written = |path: &Path, bytes: &[u8]| {
        let written = Staged::new(path, bytes).and_then(|file| file.put_beside(path));
        written.map_err(|error| cannot_create(path, &error))
    };
    let removed = written(&paths.removed, &lines)?;
    let manifest = written(&paths.manifest, &text).inspect_err(|_| {
        let _ = std::fs::remove_file(&paths.removed);
    })?;
    Ok((paths, vec![removed, manifest]))
}

/// Whether the source comes back byte for byte.
fn restores(recipe: &Recipe, managed: &[u8], removed: &[Removed], source: &[u8]) -> Check {
    let name = "restores";
    match put_together(recipe, managed, removed) {
        Ok(bytes) if bytes == source => {
            let n = removed.len();
            Check::passed(
                name,
                format!(
                    "{} with {} put back",
                    counted(source.len(), "byte"),
                    counted(n, "removed piece"),
                ),
            )
        }
        Ok(_) => Check::failed(name, "what is put together differs from the source"),
        Err(why) => Check::failed(name, why),
    }
}

/// Nothing that exists is written over, the sidecars of an export that was interrupted least of all.
pub(super) fn refuse(output: &Path) -> Result<(), String> {
    refuse_output(output)?;
    let strays = [removed_path(output), manifest_path(output)];
    match strays.iter().find(|path| is_taken(path)) {
        Some(stray) => Err(format!(
            "{} was left by an export that was interrupted; remove it or choose another name",
            stray.display()
        )),
        None => Ok(()),
    }
}
