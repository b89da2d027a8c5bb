//! Input of the top bar.

use crate::app::config::Config;
use crate::app::open::document::Document;
use crate::app::open::followed_file::FollowedState;
use crate::app::sessions::list::Sessions;
use std::path::PathBuf;

/// Input of the top bar.
pub(in crate::app) struct BarInput<'a> {
    /// The open session.
    pub(in crate::app) document: Option<&'a Document>,
    /// The current configuration.
    pub(in crate::app) config: &'a Config,
    /// State of the open file if it has changed since it was opened.
    pub(in crate::app) live: Option<FollowedState<'a>>,
    /// Recently opened files and folders.
    pub(in crate::app) recent: &'a [PathBuf],
    /// The list of sessions, shown or behind the open session.
    pub(in crate::app) list: Option<&'a Sessions>,
    /// Index of the selected call.
    pub(in crate::app) call: usize,
    /// Whether an undo is possible.
    pub(in crate::app) can_undo: bool,
    /// Whether a redo is possible.
    pub(in crate::app) can_redo: bool,
}
