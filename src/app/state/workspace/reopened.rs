//! Kept facts about a session that is opened again.

use crate::app::state::workspace::contents::Workspace;

/// The state of a session that was open or kept before.
#[derive(Debug, Default)]
pub(crate) struct Reopened {
    /// The document continues the content of the last visit in this run.
    pub(crate) continues_visit: bool,
    /// The kept or opened workspace, or the reason for its absence.
    pub(crate) workspace: Option<Result<Workspace, String>>,
    /// The workspace was opened as a file.
    pub(crate) is_opened: bool,
}
