//! Session files of a folder.

use super::load::{LoadError, must_exist};
use std::fs;
use std::path::{Path, PathBuf};

/// How the names of session files end. What is in them tells their format; other files are not even opened.
const ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "md", "traj"];

/// Folders inside folders, at most.
const DEEPEST: usize = 32;

/// Files of a folder, and of the folders in it, that may hold a session, by path. Hidden ones are left out, and links to
/// folders are not followed: they may lead around.
///
/// # Errors
/// A [`LoadError`] when there is no such folder or it cannot be read.
pub fn session_files(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    must_exist(folder)?;
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((next, depth)) = folders.pop() {
        let cannot = |error: std::io::Error| {
            let shown = next.display();
            LoadError(format!(
                "{shown} cannot be read ({error}); check its permissions"
            ))
        };
        for entry in fs::read_dir(&next).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let kind = entry.file_type().map_err(cannot)?;
            if is_hidden {
                continue;
            }
            if kind.is_dir() && depth < DEEPEST {
                folders.push((entry.path(), depth + 1));
            } else if !kind.is_dir() && may_be_session(&entry.path()) {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn may_be_session(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str());
    let is_known =
        ending.is_some_and(|e| ENDINGS.iter().any(|known| e.eq_ignore_ascii_case(known)));
    is_known && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_by_path_and_hidden_ones_do_not_come() {
        let here = tempfile::tempdir().unwrap();
        fs::create_dir_all(here.path().join("b/.git")).unwrap();
        for name in [
            "c.jsonl",
            "b/a.JSON",
            "b/notes.txt",
            ".secret.json",
            "b/.git/x.json",
        ] {
            fs::write(here.path().join(name), "[]").unwrap();
        }
        let found = session_files(here.path()).unwrap();
        let names = ["b/a.JSON", "c.jsonl"].map(|name| here.path().join(name));
        assert_eq!(found, names);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_around_is_not_followed() {
        let here = tempfile::tempdir().unwrap();
        fs::create_dir(here.path().join("a")).unwrap();
        std::os::unix::fs::symlink(here.path(), here.path().join("a/around")).unwrap();
        fs::write(here.path().join("a/one.json"), "[]").unwrap();
        assert_eq!(session_files(here.path()).unwrap().len(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_says_so() {
        let error = session_files(Path::new("no-such-folder")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no-such-folder: no such file; check the path"
        );
    }
}
