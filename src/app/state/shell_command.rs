//! Commands of the window as a whole.

use crate::app::state::model::tab::Tab;

/// A command of the window as a whole.
#[derive(Clone, Debug, PartialEq)]
pub enum ShellCommand {
    /// Undo the last change.
    Undo,
    /// Redo the last undone change.
    Redo,
    /// Show a tab of the drawer.
    ShowTab(Tab),
    /// Show the list of shortcuts.
    ShowShortcuts,
    /// Close the list of shortcuts.
    CloseShortcuts,
    /// Use this theme.
    SetTheme(ThemeChoice),
    /// Copy a text to the clipboard. Its name, such as `the path`, is shown in a notice.
    Copy(&'static str, String),
    /// Save the workspace as a portable file next to the session.
    SaveWorkspace,
    /// Copy the command line that reproduces the numbers.
    CopyCommandLine,
}

/// The theme that the user chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeChoice {
    /// Light text on dark.
    Dark,
    /// Dark text on light.
    Light,
    /// The theme of the system.
    #[default]
    System,
}
