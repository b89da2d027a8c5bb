//! The files with whole tool results.

use crate::engine::{Storage, short_name};

/// Returns the path of the file with a whole result.
pub(super) fn path(storage: &Storage, name: &str) -> String {
    match storage {
        Storage::Folder(folder) => format!("{folder}/{}", file_name(name)),
        Storage::AsSet | Storage::Missing => {
            format!("~/.gemini/tmp/tool-outputs/{}", file_name(name))
        }
    }
}

/// Returns a name without characters that file systems do not allow.
pub(super) fn file_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name = name.chars().map(|c| if allowed(c) { c } else { '_' });
    short_name(name.collect())
}
