//! Default path of an export: beside its source, but never in a folder in which an agent keeps its own
//! sessions, where a file of ours would be taken for one of them.

use super::export::{files_path, manifest_path, removed_path};
use super::stores;
use super::unfinished::claim_path;
use crate::formats::Format;
use std::path::{Path, PathBuf};

/// `<name>-managed-N.<ext>` beside the source, the first N that is free; in the current folder when the source lies in
/// an agent's own session store; none when the current folder lies in one too.
pub fn default_export_path(source: &Path, format: &Format) -> Option<PathBuf> {
    Some(free_name(&folder_for(source)?, source, format))
}

/// The same for what the model saw at a step: `<name>-call-N.<ext>`, with a number behind it where that is taken.
pub fn default_seen_path(source: &Path, format: &Format, step: usize) -> Option<PathBuf> {
    default_path_beside(
        source,
        &format!("call-{}", step + 1),
        &ending(source, format),
    )
}

/// The same for anything else that is made of a source: `<name>-<what>.<ext>`.
pub fn default_path_beside(source: &Path, what: &str, extension: &str) -> Option<PathBuf> {
    let of = stem(source);
    Some(free_path(
        &folder_for(source)?.join(format!("{of}-{what}.{extension}")),
    ))
}

/// The same for a session in another format, or a copy of it (which ends as it does): `<name>-<format>.<ext>`.
pub fn default_converted_path(source: &Path, format: &Format, is_copy: bool) -> Option<PathBuf> {
    let ending = own_ending(source).filter(|_| is_copy);
    let ending = ending.unwrap_or_else(|| extension(format));
    default_path_beside(source, format.name, ending)
}

/// Endings of text files that a copy keeps; a database's session is a document.
const COPIED: [&str; 5] = ["json", "jsonl", "ndjson", "md", "traj"];

/// A path, or where something is there the first that is free with a number behind its name: `a-2.json`.
pub fn free_path(path: &Path) -> PathBuf {
    numbered(path)
        .find(|path| !super::is_taken(path) && !is_claimed(path))
        .unwrap_or_else(|| path.to_owned())
}

/// A path, and the same with a number behind its name: `a.json`, `a-2.json`, `a-3.json`, …
pub(super) fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let dot = if extension.is_empty() { "" } else { "." };
    let others =
        (2..=u32::MAX).map(move |n| path.with_file_name(format!("{stem}-{n}{dot}{extension}")));
    std::iter::once(path.to_owned()).chain(others)
}

/// The folder of the source, or the current one, whichever is no agent's own session store.
fn folder_for(source: &Path) -> Option<PathBuf> {
    let stores = stores::folders();
    let beside = source.parent().unwrap_or(Path::new(""));
    [beside, Path::new("")]
        .into_iter()
        .find(|folder| !is_in_store(folder, &stores))
        .map(Path::to_owned)
}

/// How an export ends. Most formats hold their own sessions only: such a copy is laid out as its source, and ends so.
fn ending(source: &Path, format: &Format) -> String {
    let has_one_layout = matches!(
        format.name,
        "claude_code" | "codex_rollout" | "openai_chat" | "anthropic_messages"
    );
    let own = own_ending(source).filter(|ending| !has_one_layout && ending.starts_with("json"));
    own.unwrap_or_else(|| extension(format)).to_owned()
}

/// How a text file ends, where a copy keeps that.
fn own_ending(source: &Path) -> Option<&str> {
    let ending = stem_path(source).extension()?.to_str()?;
    COPIED.contains(&ending).then_some(ending)
}

fn extension(format: &Format) -> &'static str {
    match format.name {
        "claude_code" | "codex_rollout" => "jsonl",
        _ => "json",
    }
}

/// The name of a file without what tells its kind.
fn stem(source: &Path) -> String {
    let name = stem_path(source);
    let stem = name.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The name of what a file holds: a copy is not compressed.
fn stem_path(source: &Path) -> &Path {
    let is_packed = source.extension().is_some_and(|ending| {
        ["gz", "zst"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    });
    let name = if is_packed {
        source.file_stem()
    } else {
        source.file_name()
    };
    Path::new(name.unwrap_or_default())
}

fn free_name(folder: &Path, source: &Path, format: &Format) -> PathBuf {
    let extension = ending(source, format);
    let stem = stem(source);
    let stem = without_managed_suffix(&stem);
    (1..=u32::MAX)
        .map(|n| folder.join(format!("{stem}-managed-{n}.{extension}")))
        .find(|path| is_free(path) && !is_claimed(path))
        .unwrap_or_else(|| folder.join(format!("{stem}-managed.{extension}")))
}

/// Neither the file nor a sidecar is there, which may be left of an export that was interrupted.
pub(super) fn is_free(path: &Path) -> bool {
    let beside = [removed_path(path), manifest_path(path), files_path(path)];
    let mut all = beside.iter().map(PathBuf::as_path).chain([path]);
    !all.any(super::is_taken)
}

/// Another process has chosen this name and is about to write.
fn is_claimed(path: &Path) -> bool {
    super::is_taken(&claim_path(path))
}

/// An export of an export is numbered on, not named after its parent.
fn without_managed_suffix(stem: &str) -> &str {
    match stem.rsplit_once("-managed-") {
        Some((name, n))
            if !name.is_empty() && !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) =>
        {
            name
        }
        _ => stem,
    }
}

/// Compared by their real places, so that links and other spellings do not matter.
fn is_in_store(folder: &Path, stores: &[PathBuf]) -> bool {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    stores
        .iter()
        .filter_map(|store| store.canonicalize().ok())
        .any(|store| folder.starts_with(store))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats;
    use std::fs;

    fn format(name: &str) -> &'static Format {
        formats::by_name(name).unwrap()
    }

    #[test]
    fn exports_are_numbered_beside_the_source() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.b.json");
        let path = |source: &Path, name| default_export_path(source, format(name)).unwrap();
        let first = path(&source, "openai_chat");
        assert_eq!(first, folder.path().join("a.b-managed-1.json"));
        fs::write(&first, "x").unwrap();
        assert_eq!(
            path(&first, "claude_code"),
            folder.path().join("a.b-managed-1.jsonl")
        );
        assert_eq!(
            path(&first, "openai_chat"),
            folder.path().join("a.b-managed-2.json")
        );
        // What is written as it was laid out ends as it did.
        for (source, copy) in [
            ("g.jsonl", "g-managed-1.jsonl"),
            ("g.jsonl.gz", "g-managed-1.jsonl"),
            ("g.json", "g-managed-1.json"),
            ("g.db", "g-managed-1.json"),
        ] {
            let source = folder.path().join(source);
            assert_eq!(path(&source, "goose"), folder.path().join(copy));
        }
    }

    #[test]
    fn what_was_seen_is_named_after_its_call() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.json");
        let path = || default_seen_path(&source, format("openai_chat"), 11).unwrap();
        assert_eq!(path(), folder.path().join("a-call-12.json"));
        fs::write(path(), "x").unwrap();
        assert_eq!(path(), folder.path().join("a-call-12-2.json"));
    }

    #[test]
    fn what_is_made_of_a_source_is_named_after_it_and_numbered() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.b.json");
        let path = || default_path_beside(&source, "report", "html").unwrap();
        for name in ["a.b-report.html", "a.b-report-2.html", "a.b-report-3.html"] {
            assert_eq!(path(), folder.path().join(name));
            fs::write(path(), "x").unwrap();
        }
        fs::write(folder.path().join("log"), "x").unwrap();
        let plain = free_path(&folder.path().join("log"));
        assert_eq!(plain, folder.path().join("log-2"));
    }

    #[cfg(unix)]
    #[test]
    fn an_agents_own_store_is_recognized_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        fs::create_dir_all(store.join("project")).unwrap();
        std::os::unix::fs::symlink(store.join("project"), folder.path().join("link")).unwrap();
        let stores = [store];
        assert!(is_in_store(&folder.path().join("link"), &stores));
        assert!(!is_in_store(folder.path(), &stores));
    }
}
