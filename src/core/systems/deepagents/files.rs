//! Files that texts are moved to.

use crate::engine::Storage;

/// Returns the path of a file; `None` if files cannot be written.
pub(super) fn path(storage: &Storage, name: &str) -> Option<String> {
    match storage {
        Storage::AsSet => Some(format!("/{name}")),
        Storage::Folder(folder) => Some(format!("{folder}/{name}")),
        Storage::Missing => None,
    }
}
