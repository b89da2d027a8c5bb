//! Commands that open and close sessions.

use crate::app::state::model::document::Origin;
use crate::app::state::model::session_list::is_list;
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
    /// Dismiss the error message.
    DismissError,
    /// Close the path dialog.
    ClosePathDialog,
    /// Change the text of the path field.
    EditPath(String),
}

impl OpenCommand {
    /// Returns the source to load, and the index of its conversation; `None` if it is known only when the command is executed.
    pub(crate) fn source(&self) -> Option<(Origin, usize)> {
        match self {
            Self::Path(path) if !is_list(path, 0) => Some((Origin::Path(path.clone()), 0)),
            Self::ConversationOf(path, conversation) => {
                Some((Origin::Path(path.clone()), *conversation))
            }
            Self::Example(name) => Some((Origin::Example(name), 0)),
            _ => None,
        }
    }
}
