//! Commands of the session tabs.

use crate::app::state::model::selection::Direction;
use crate::app::state::open::command::OpenCommand;

/// A command of the session tabs. Tabs are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabsCommand {
    /// Show an empty tab.
    New,
    /// Open a session in a new tab.
    OpenInNew(OpenCommand),
    /// Show a tab.
    Show(usize),
    /// Show the next tab, or the previous one. The last is followed by the first.
    Step(Direction),
    /// Close a tab; `None` for the shown one.
    Close(Option<usize>),
    /// Open the session of the tab closed last in a new tab.
    Reopen,
}
