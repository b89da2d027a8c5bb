//! Commands that open and close sessions.

use std::path::PathBuf;

/// A command that opens or closes a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenCommand {
    /// Show the system's dialog for opening a file.
    ShowDialog,
    /// Load this file, or list the sessions of a folder.
    Path(PathBuf),
    /// Load the conversation with this index (from 0) of a file.
    ConversationOf(PathBuf, usize),
    /// Load a bundled example, by its file name.
    Example(&'static str),
    /// Load the contents of the clipboard.
    Paste,
    /// Load another conversation of the open file.
    Conversation(usize),
    /// Stop loading.
    Cancel,
    /// Close the session and show the empty window.
    Close,
    /// Dismiss the error message.
    DismissError,
    /// Show or close the path dialog.
    AskPath(bool),
    /// Change the text of the path field.
    EditPath(String),
}
