//! The folder of the log and of the sessions' constraints.

use crate::exec::state::State;
use std::path::PathBuf;

/// Returns the folder; `None` without a home folder.
pub(super) fn folder() -> Option<PathBuf> {
    Some(State::path()?.with_file_name("hooks"))
}
