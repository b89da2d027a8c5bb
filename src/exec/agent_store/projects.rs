//! Finds the folder of a project in a store whose program chooses the names of these folders.

use super::current_folder;
use crate::exec::files::read_bounded;
use crate::formats::{ProjectFolders, Resume};
use crate::json::Value;
use crate::session::Session;
use std::fs;
use std::path::Path;

/// Maximum size of a registry and of a marker.
const MAX_BYTES: u64 = 16 << 20;

/// A project with its folder in a store.
#[derive(Debug)]
pub(super) struct StoredProject {
    /// Path of the project.
    pub(super) path: String,
    /// Name of its folder in the store.
    pub(super) folder: String,
}

/// Finds the folder of the session's project. If the project is neither recorded nor on this machine, it is the one of
/// which the session records the hash, or else the current folder.
///
/// # Errors
/// Returns one line if the program never ran in the project.
pub(super) fn find(
    resume: &Resume,
    folders: &ProjectFolders,
    store: &Path,
    session: &Session,
    wanted: &str,
) -> Result<StoredProject, String> {
    let known = known(folders, store);
    let here = current_folder()?.to_string_lossy().into_owned();
    let recorded = session.project.is_some() && Path::new(wanted).is_dir();
    let mut path = if recorded || is_known(&known, wanted) { wanted.to_owned() } else { here };
    if session.project.is_none() {
        let bytes = session.source.bytes.whole();
        let is_of = |(path, _): &&(String, String)| (folders.is_of)(&bytes, &(folders.hash)(path));
        path = known.iter().find(is_of).map_or(path, |(known, _)| known.clone());
    }
    let folder = known.iter().find(|(known, _)| is_same(known, &path));
    if let Some((path, folder)) = folder {
        return Ok(StoredProject { path: path.clone(), folder: folder.clone() });
    }
    // Older versions of the program named folders by the hash, and newer ones still read them.
    let hash = (folders.hash)(&path);
    if store.join(folders.folder).join(&hash).is_dir() {
        return Ok(StoredProject { path, folder: hash });
    }
    Err(format!(
        "{} has no folder for the project {path} in {}; run it once in that folder",
        resume.program,
        store.join(folders.folder).display()
    ))
}

fn is_known(known: &[(String, String)], path: &str) -> bool {
    known.iter().any(|(known, _)| is_same(known, path))
}

fn is_same(a: &str, b: &str) -> bool {
    Path::new(a) == Path::new(b)
}

/// Returns the paths of projects with the names of their folders: those of the registry, then those of markers.
fn known(folders: &ProjectFolders, store: &Path) -> Vec<(String, String)> {
    let registry = read_bounded(&store.join(folders.registry), MAX_BYTES).ok();
    let registry = registry.and_then(|bytes| crate::json::from_slice(&bytes).ok());
    let listed = registry.as_ref().and_then(|value: &Value| value.get("projects")?.as_object());
    let listed = listed.into_iter().flatten().filter_map(|(path, folder)| {
        // A name is one folder; anything else would lead out of the store.
        let folder = folder.as_str().filter(|name| is_name(name))?;
        Some((path.clone(), folder.to_owned()))
    });
    let entries = fs::read_dir(store.join(folders.folder)).into_iter().flatten().flatten();
    let marked = entries.filter_map(|entry| {
        let marker = read_bounded(&entry.path().join(folders.marker), MAX_BYTES).ok()?;
        let path = String::from_utf8(marker).ok()?.trim().to_owned();
        Some((path, entry.file_name().into_string().ok()?))
    });
    listed.chain(marked).collect()
}

fn is_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(_)), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_registry_stays_in_the_store() {
        assert!(is_name("project-1"));
        for name in ["", ".", "..", "../x", "/x", "a/b"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
