//! Files that texts are moved to.

use crate::engine::{FileContent, NewFile, Storage};

/// Returns the path of a file; `None` if files cannot be written.
pub(super) fn path(storage: &Storage, name: &str) -> Option<String> {
    match storage {
        Storage::AsSet => Some(format!("/{name}")),
        Storage::Folder(folder) => Some(format!("{folder}/{name}")),
        Storage::Missing => None,
    }
}

/// Returns a file with a text.
pub(super) fn file(name: impl Into<String>, text: String) -> NewFile {
    NewFile {
        name: name.into(),
        content: FileContent::Text(text.into()),
        appends: false,
    }
}
