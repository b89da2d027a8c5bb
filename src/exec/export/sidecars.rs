//! Writes the sidecars of a managed file: the removed records and the manifest that restores the source.

use super::manifest::{ManifestContent, Recipe, SourcePart, manifest, source_parts, write_parts};
use super::pieces;
use super::removed::{RemovedRecord, removed};
use crate::exec::check::Check;
use crate::exec::files::unfinished::Unfinished;
use crate::exec::files::{Hasher, StagedFile, is_taken, sha256, write_error};
use crate::exec::outputs::{FileId, is_free, manifest_path, numbered, removed_path};
use crate::figure::counted;
use crate::formats::{Format, Input};
use crate::progress::Progress;
use crate::session::{FileBytes, Session};
use std::io;
use std::path::{Path, PathBuf};

/// The files next to a managed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecars {
    /// The removed records, one per line.
    pub removed: PathBuf,
    /// The manifest.
    pub manifest: PathBuf,
    /// The files that the policy wrote, if any.
    pub files: Option<PolicyFolder>,
}

/// A folder of files that a policy wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFolder {
    /// The folder.
    pub path: PathBuf,
    /// Number of files.
    pub n_files: usize,
}

/// Returns the path after which the sidecars of a new managed file are named: the file's own, or a numbered one if
/// sidecars of an earlier export exist. Those may be the only copy of what it removed.
pub(super) fn sidecar_base(managed: &Path) -> PathBuf {
    let free = numbered(managed).find(|path| is_free(path));
    free.unwrap_or_else(|| managed.to_owned())
}

/// Returns a note if the sidecars are not named after the managed file.
pub(super) fn renamed_note(managed: &Path, base: &Path) -> Option<String> {
    let has_one = is_taken(&removed_path(managed)) != is_taken(&manifest_path(managed));
    let earlier = if has_one { "an interrupted" } else { "an earlier" };
    let name = base.file_stem().unwrap_or_default().display();
    (managed != base).then(|| {
        format!("the sidecars of {earlier} export to this name are kept, so these are named {name}")
    })
}

impl Sidecars {
    /// Removes the sidecars of a failed export.
    pub(super) fn remove(&self) {
        for path in [&self.removed, &self.manifest] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Writes the removed records and the manifest, and checks that they restore the source. Both files are unfinished
/// until the managed file is committed.
///
/// # Errors
/// Returns one line if a file cannot be written; then none is left.
pub(super) fn write_sidecars(
    content: &ManifestContent<'_>,
    managed: &FileBytes,
    checks: &mut Vec<Check>,
) -> Result<(Sidecars, Vec<Unfinished>), String> {
    let (job, case) = (content.job, &content.job.case);
    let source = &case.session.source;
    let bytes = source.bytes.whole();
    let read = parsed(job.format, managed);
    let managed = managed.whole();
    let pieces = pieces::pieces(&case.session, &managed, read.as_ref());
    let paths = Sidecars {
        removed: removed_path(content.base),
        manifest: manifest_path(content.base),
        files: None,
    };
    let restore = source_parts(&pieces);
    let removed = removed(case, &content.outcome.context, &content.outcome.events, &pieces);
    let sidecar = RemovedFile::write(&paths.removed, removed, &restore, &managed, &bytes)
        .map_err(|error| write_error(&paths.removed, &error))?;
    checks.push(sidecar.restores);
    let file = |name: &Path, format: &str, bytes: usize, sha256: String| FileId {
        name: name.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        format: format.to_owned(),
        bytes,
        sha256,
    };
    let recipe = Recipe {
        source: file(Path::new(&source.name), source.format, bytes.len(), sha256(&bytes)),
        managed: file(&job.output, job.format.name, managed.len(), sha256(&managed)),
        removed: file(&paths.removed, "", sidecar.bytes, sidecar.sha256),
        restore,
    };
    let whole = manifest(content, checks, &recipe);
    let text = serde_json::to_vec_pretty(&whole).map_err(|error| error.to_string())?;
    let commit = |path: &Path, staged: io::Result<StagedFile>| {
        let committed = staged.and_then(|file| file.commit_unfinished(path));
        committed.map_err(|error| write_error(path, &error))
    };
    let removed = commit(&paths.removed, Ok(sidecar.staged))?;
    let staged = StagedFile::private(&paths.manifest, &text);
    let manifest = commit(&paths.manifest, staged).inspect_err(|_| {
        let _ = std::fs::remove_file(&paths.removed);
    })?;
    Ok((paths, vec![removed, manifest]))
}

/// Parses a managed file as the format that was written.
fn parsed(format: &Format, bytes: &FileBytes) -> Option<Session> {
    let _held = bytes.whole();
    let input = Input { name: String::new(), bytes: bytes.clone() };
    let parsed = format.read(&input, &Progress::default()).ok()?;
    parsed.sessions.into_iter().next()
}

/// The staged sidecar with the removed records.
struct RemovedFile {
    staged: StagedFile,
    bytes: usize,
    sha256: String,
    /// Check that the source is restored byte for byte.
    restores: Check,
}

impl RemovedFile {
    /// Writes the records one by one and compares the restored bytes with the source.
    fn write(
        path: &Path,
        removed: impl Iterator<Item = RemovedRecord>,
        restore: &[SourcePart],
        managed: &[u8],
        source: &[u8],
    ) -> io::Result<Self> {
        let (mut n, mut bytes, mut hasher) = (0, 0, Hasher::new());
        let (mut at, mut is_same, mut failed) = (0, true, None);
        let mut put_back = Ok(());
        let staged = StagedFile::private_stream(path, |file| {
            let mut line = Vec::new();
            let mut write = |entry: &RemovedRecord| -> io::Result<()> {
                line.clear();
                serde_json::to_writer(&mut line, entry)?;
                line.push(b'\n');
                (n, bytes) = (n + 1, bytes + line.len());
                hasher.update(&line);
                file.write_all(&line)
            };
            let mut lines = removed.map(|entry| {
                let written = failed.as_ref().map_or_else(|| write(&entry), |_| Ok(()));
                failed = written.err().or(failed.take());
                Ok(entry)
            });
            put_back = write_parts(source.len(), restore, managed, &mut lines, |part| {
                is_same &= source[at..].starts_with(part);
                at += part.len();
            });
            lines.for_each(drop);
            failed.map_or(Ok(()), Err)
        })?;
        let name = "restores";
        let restores = match put_back {
            Ok(()) if is_same && at == source.len() => {
                let (size, n) = (counted(at, "byte"), counted(n, "removed piece"));
                Check::passed(name, format!("{size} with {n} put back"))
            }
            Ok(()) => Check::failed(name, "the restored content differs from the source"),
            Err(reason) => Check::failed(name, reason),
        };
        Ok(Self { staged, bytes, sha256: hasher.finish(), restores })
    }
}
