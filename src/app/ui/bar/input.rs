//! Input of the top bar.

use crate::analysis::usage::TreeUsage;
use crate::app::state::model::config::Config;
use crate::app::state::model::document::Document;
use crate::app::state::open::followed_file::FollowedState;
use crate::app::state::sessions::list::Sessions;
use std::path::PathBuf;

/// Input of the top bar.
pub(crate) struct BarInput<'a> {
    /// The open session.
    pub(crate) document: Option<&'a Document>,
    /// Usage of the session's conversations; `None` without sub-agents, and until it is known.
    pub(crate) conversation_usage: Option<&'a TreeUsage>,
    /// The current configuration.
    pub(crate) config: &'a Config,
    /// State of the open file if it has changed since it was opened.
    pub(crate) live: Option<FollowedState<'a>>,
    /// Recently opened files and folders.
    pub(crate) recent: &'a [PathBuf],
    /// The list of sessions, shown or behind the open session.
    pub(crate) list: Option<&'a Sessions>,
    /// Index of the selected call.
    pub(crate) call: usize,
    /// Whether an undo is possible.
    pub(crate) can_undo: bool,
    /// Whether a redo is possible.
    pub(crate) can_redo: bool,
}
