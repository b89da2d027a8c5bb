//! Commands of the window as a whole.

use crate::app::view::Tab;

/// A command of the window as a whole.
#[derive(Clone, Debug, PartialEq)]
pub enum ShellCommand {
    /// Undo the last change.
    Undo,
    /// Redo the last undone change.
    Redo,
    /// Show a tab of the drawer.
    ShowTab(Tab),
    /// Show or hide the list of shortcuts.
    ShowShortcuts(bool),
    /// Use this theme.
    SetTheme(egui::ThemePreference),
    /// Copy a text to the clipboard. Its name, such as `the path`, is shown in a notice.
    Copy(&'static str, String),
    /// Save the workspace as a portable file next to the session.
    SaveWorkspace,
    /// Copy the command line that reproduces the numbers.
    CopyCommandLine,
}
