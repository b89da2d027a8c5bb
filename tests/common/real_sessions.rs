//! Real recorded sessions, which are private and not in the repository.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::PathBuf;

/// Returns the folder that `PLIMSOLL_SESSIONS` names; `None`, with a note, if it is not set. Its folders are formats.
///
/// # Panics
/// If the folder does not exist.
pub(crate) fn folder() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("PLIMSOLL_SESSIONS").map(PathBuf::from) else {
        eprintln!("SKIPPED: PLIMSOLL_SESSIONS names no folder of real sessions");
        return None;
    };
    assert!(folder.is_dir(), "{} is no folder", folder.display());
    Some(folder)
}
