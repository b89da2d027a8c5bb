//! Paths with several sessions.

use crate::exec;
use std::path::Path;

/// Returns whether a path contains several sessions of which none is chosen by its number.
pub(crate) fn is_list(path: &Path, conversation: usize) -> bool {
    exec::is_folder_of_sessions(path) || conversation == 0 && exec::is_database(path)
}
