//! Names of recently opened files and folders.

use crate::safe_text;
use std::path::Path;

/// Returns the name of a recent file or folder. A folder's name ends in a separator.
pub(crate) fn recent_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = safe_text::one_line(&name.to_string_lossy(), 80);
    if is_folder(path) { format!("{name}/") } else { name }
}

/// Returns whether a recent path is that of a folder: it ends in a separator.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}
