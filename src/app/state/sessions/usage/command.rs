//! Commands of the page *Usage*.

use crate::app::state::sessions::usage::view::UsageView;

/// A command of the page *Usage*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageCommand {
    /// Show the page, and read the sessions that have changed.
    Show,
    /// Show the list of sessions instead.
    Hide,
    /// Use these choices.
    View(UsageView),
    /// Stop reading.
    Stop,
    /// Highlight this row, by its index in the table.
    Highlight(usize),
    /// List the sessions of this row.
    ShowSessions(usize),
}
