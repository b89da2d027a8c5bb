//! Default paths of exports: next to the source, but never in an agent's own session store, where the agent would take
//! the file for a session.

use crate::exec::files::is_taken;
use crate::exec::files::unfinished::claim_path;
use crate::exec::outputs::{is_free, numbered};
use crate::exec::stores;
use crate::formats::Format;
use std::path::{Path, PathBuf};

/// Returns `<name>-managed-N.<ext>` with the first free N: next to the source, or in the current folder if the source
/// is in an agent's session store. Returns `None` if the current folder is in one, too.
pub fn default_export_path(source: &Path, format: &Format) -> Option<PathBuf> {
    Some(free_name(&folder_for(source)?, source, format))
}

/// Returns the default path of the context at a call: `<name>-call-N.<ext>`, followed by a number if that is taken.
pub fn default_context_path(source: &Path, format: &Format, call: usize) -> Option<PathBuf> {
    default_path_beside(source, &format!("call-{}", call + 1), &export_extension(source, format))
}

/// Returns the default path of any other output: `<name>-<suffix>.<ext>`, followed by a number if that is taken.
pub fn default_path_beside(source: &Path, suffix: &str, extension: &str) -> Option<PathBuf> {
    let stem = stem(source);
    Some(free_path(&folder_for(source)?.join(format!("{stem}-{suffix}.{extension}"))))
}

/// Returns the default path of a converted session: `<name>-<format>.<ext>`. A copy keeps the extension of its source.
pub fn default_converted_path(source: &Path, format: &Format, is_copy: bool) -> Option<PathBuf> {
    let own = own_extension(source).filter(|_| is_copy);
    default_path_beside(source, format.name, own.or(format.extension).unwrap_or(DEFAULT_EXTENSION))
}

/// Extension of exports whose format and source have none.
const DEFAULT_EXTENSION: &str = "json";
/// Extensions of text files that a copy keeps. The session of a database becomes a JSON document.
const COPIED: [&str; 5] = ["json", "jsonl", "ndjson", "md", "traj"];

/// Returns a path, or if it is taken the first free one with a number: `a-2.json`.
pub fn free_path(path: &Path) -> PathBuf {
    numbered(path)
        .find(|path| is_free(path) && !is_claimed(path))
        .unwrap_or_else(|| path.to_owned())
}

/// Returns the folder of the source or the current folder, whichever is not in an agent's session store.
fn folder_for(source: &Path) -> Option<PathBuf> {
    let stores = stores::folders();
    let beside = source.parent().unwrap_or(Path::new(""));
    [beside, Path::new("")]
        .into_iter()
        .find(|folder| !is_in_store(folder, &stores))
        .map(Path::to_owned)
}

/// Returns the extension of an export. Formats with several layouts keep the layout and the extension of the source.
fn export_extension(source: &Path, format: &Format) -> String {
    let own = own_extension(source).filter(|own| own.starts_with("json"));
    let extension = format.extension.or(own);
    extension.unwrap_or(DEFAULT_EXTENSION).to_owned()
}

/// Returns the extension of a text file if a copy keeps it.
fn own_extension(source: &Path) -> Option<&str> {
    let extension = uncompressed_name(source).extension()?.to_str()?;
    COPIED.contains(&extension).then_some(extension)
}

/// Returns the name of a file without its extensions.
fn stem(source: &Path) -> String {
    let name = uncompressed_name(source);
    let stem = name.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Returns the name of a file without the extension of a compression.
fn uncompressed_name(source: &Path) -> &Path {
    let is_packed = source
        .extension()
        .is_some_and(|ending| ["gz", "zst"].iter().any(|known| ending.eq_ignore_ascii_case(known)));
    let name = if is_packed { source.file_stem() } else { source.file_name() };
    Path::new(name.unwrap_or_default())
}

fn free_name(folder: &Path, source: &Path, format: &Format) -> PathBuf {
    let extension = export_extension(source, format);
    let stem = stem(source);
    let stem = without_managed_suffix(&stem);
    (1..=u32::MAX)
        .map(|n| folder.join(format!("{stem}-managed-{n}.{extension}")))
        .find(|path| is_free(path) && !is_claimed(path))
        .unwrap_or_else(|| folder.join(format!("{stem}-managed.{extension}")))
}

/// Returns true if another process has claimed this path.
fn is_claimed(path: &Path) -> bool {
    is_taken(&claim_path(path))
}

/// Removes the suffix of an earlier export, so that an export of an export gets the next number.
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

/// Returns true if a folder is in a store, whatever links lead there.
fn is_in_store(folder: &Path, stores: &[PathBuf]) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
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
        assert_eq!(path(&first, "claude_code"), folder.path().join("a.b-managed-1.jsonl"));
        assert_eq!(path(&first, "openai_chat"), folder.path().join("a.b-managed-2.json"));
        // A format with several layouts keeps the extension of the source.
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
    fn a_context_is_named_after_its_call() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.json");
        let path = || default_context_path(&source, format("openai_chat"), 11).unwrap();
        assert_eq!(path(), folder.path().join("a-call-12.json"));
        fs::write(path(), "x").unwrap();
        assert_eq!(path(), folder.path().join("a-call-12-2.json"));
    }

    #[test]
    fn outputs_are_named_after_the_source_and_numbered() {
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
