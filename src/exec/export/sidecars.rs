//! What stands beside a managed file: what was taken out of the source, and how to put it back.

use super::hash::Hasher;
use super::manifest::{self, FileMark, Take, Told, each_stretch};
use super::{Recipe, Removed, pieces, removed, session_of, sha256};
use crate::exec::check::Check;
use crate::exec::export_path::{is_free, numbered};
use crate::exec::place::{Staged, cannot_create};
use crate::exec::unfinished::Unfinished;
use crate::exec::{counted, is_taken};
use crate::session::FileBytes;
use std::io;
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

/// The path that the sidecars of a new managed file are named after: the file's own, or one with a number where sidecars
/// of its name are left. Those may be all that is left of what an earlier export of that name removed.
pub(super) fn sidecar_base(managed: &Path) -> PathBuf {
    let free = numbered(managed).find(|path| is_free(path));
    free.unwrap_or_else(|| managed.to_owned())
}

/// States that the sidecars are not named after the managed file, where they are not.
pub(super) fn renamed(managed: &Path, base: &Path) -> Option<String> {
    let is_half = is_taken(&removed_path(managed)) != is_taken(&manifest_path(managed));
    let earlier = if is_half {
        "an interrupted"
    } else {
        "an earlier"
    };
    let name = base.file_stem().unwrap_or_default().display();
    (managed != base).then(|| {
        format!("the sidecars of {earlier} export to this name are kept, so these are named {name}")
    })
}

impl Sidecars {
    /// They belong to nothing.
    pub(super) fn take_away(&self) {
        for path in [&self.removed, &self.manifest] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Writes what was taken out and the manifest, and puts the source together again from them meanwhile. Both are
/// unfinished until the managed file is in place.
pub(super) fn sidecars(
    told: &Told<'_>,
    managed: &FileBytes,
    checks: &mut Vec<Check>,
) -> Result<(Sidecars, Vec<Unfinished>), String> {
    let (job, case) = (told.job, &told.job.case);
    let source = &case.session.source;
    let bytes = source.bytes.whole();
    let read = session_of(managed.clone());
    let managed = managed.whole();
    let pieces = pieces::pieces(&case.session, &managed, read.as_ref());
    let paths = Sidecars {
        removed: removed_path(told.base),
        manifest: manifest_path(told.base),
        files: None,
    };
    let restore = manifest::recipe(&pieces);
    let removed = removed::removed(case, &told.outcome.context, &told.outcome.events, &pieces);
    let sidecar = Sidecar::write(&paths.removed, removed, &restore, &managed, &bytes)
        .map_err(|error| cannot_create(&paths.removed, &error))?;
    checks.push(sidecar.restores);
    let mark = |name: &Path, format: &str, bytes: usize, sha256: String| FileMark {
        name: name
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        format: format.to_owned(),
        bytes,
        sha256,
    };
    let of_source = (bytes.len(), sha256(&bytes));
    let recipe = Recipe {
        source: mark(
            Path::new(&source.name),
            source.format,
            of_source.0,
            of_source.1,
        ),
        managed: mark(
            &job.output,
            job.format.name,
            managed.len(),
            sha256(&managed),
        ),
        removed: mark(&paths.removed, "", sidecar.bytes, sidecar.sha256),
        restore,
    };
    let whole = manifest::manifest(told, checks, &recipe);
    let text = serde_json::to_vec_pretty(&whole).map_err(|error| error.to_string())?;
    let put = |path: &Path, staged: io::Result<Staged>| {
        let put = staged.and_then(|file| file.put_beside(path));
        put.map_err(|error| cannot_create(path, &error))
    };
    let removed = put(&paths.removed, Ok(sidecar.staged))?;
    let manifest = put(&paths.manifest, Staged::new(&paths.manifest, &text)).inspect_err(|_| {
        let _ = std::fs::remove_file(&paths.removed);
    })?;
    Ok((paths, vec![removed, manifest]))
}

/// The file of what was taken out, written but not yet in its place.
struct Sidecar {
    staged: Staged,
    bytes: usize,
    sha256: String,
    /// Whether the source comes back byte for byte.
    restores: Check,
}

impl Sidecar {
    /// Writes the lines one by one and compares what they restore with the source.
    fn write(
        path: &Path,
        removed: impl Iterator<Item = Removed>,
        restore: &[Take],
        managed: &[u8],
        source: &[u8],
    ) -> io::Result<Self> {
        let (mut n, mut bytes, mut hasher) = (0, 0, Hasher::new());
        let (mut at, mut is_same, mut broken) = (0, true, None);
        let mut joined = Ok(());
        let staged = Staged::streamed(path, |file| {
            let mut line = Vec::new();
            let mut write = |entry: &Removed| -> io::Result<()> {
                line.clear();
                serde_json::to_writer(&mut line, entry)?;
                line.push(b'\n');
                (n, bytes) = (n + 1, bytes + line.len());
                hasher.update(&line);
                file.write_all(&line)
            };
            let mut lines = removed.map(|entry| {
                let written = broken.as_ref().map_or_else(|| write(&entry), |_| Ok(()));
                broken = written.err().or(broken.take());
                Ok(entry)
            });
            joined = each_stretch(source.len(), restore, managed, &mut lines, |stretch| {
                is_same &= source[at..].starts_with(stretch);
                at += stretch.len();
            });
            lines.for_each(drop);
            broken.map_or(Ok(()), Err)
        })?;
        let name = "restores";
        let restores = match joined {
            Ok(()) if is_same && at == source.len() => {
                let (size, n) = (counted(at, "byte"), counted(n, "removed piece"));
                Check::passed(name, format!("{size} with {n} put back"))
            }
            Ok(()) => Check::failed(name, "the restored content differs from the source"),
            Err(why) => Check::failed(name, why),
        };
        Ok(Self {
            staged,
            bytes,
            sha256: hasher.finish(),
            restores,
        })
    }
}
