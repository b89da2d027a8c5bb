//! Finds the folder of a project in a store whose program chooses the names of these folders.

use crate::exec::files::read_bounded;
use crate::formats::{ProjectFolders, Resume};
use crate::json::Value;
use crate::session::Session;
use std::fs;
use std::path::Path;

/// Maximum size of a registry and of a marker.
const MAX_BYTES: u64 = 16 << 20;

/// Returns the path of the project of which the session file records only the hash.
pub(super) fn of_file(folders: &ProjectFolders, store: &Path, session: &Session) -> Option<String> {
    let hashes = (folders.hashes)(&session.source.bytes.whole());
    let mut paths = known(folders, store).into_iter().map(|(path, _)| path);
    paths.find(|path| hashes.contains(&(folders.hash)(path)))
}

/// Returns the name of the project's folder in the store.
///
/// # Errors
/// Returns one line if the program never ran in the project.
pub(super) fn find(
    resume: &Resume,
    folders: &ProjectFolders,
    store: &Path,
    project: &str,
) -> Result<String, String> {
    let mut known = known(folders, store).into_iter();
    if let Some((_, folder)) = known.find(|(path, _)| is_same(path, project)) {
        return Ok(folder);
    }
    // Older versions of the program named folders by the hash, and newer ones still read them.
    let hash = (folders.hash)(project);
    if store.join(folders.folder).join(&hash).is_dir() {
        return Ok(hash);
    }
    Err(format!(
        "{} has no folder for the project {project} in {}; run it once in that folder",
        resume.program,
        store.join(folders.folder).display()
    ))
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
