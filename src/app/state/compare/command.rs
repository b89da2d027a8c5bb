//! Commands of the comparison with a second session.

use std::path::PathBuf;

/// A command of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareCommand {
    /// Show the system's dialog for the session to compare.
    ShowDialog,
    /// Compare with the first conversation of a file. A list of sessions cannot be compared.
    Path(PathBuf),
    /// Compare with the conversation with this index (from 0) of a file.
    ConversationOf(PathBuf, usize),
    /// Compare with a bundled example, by its file name.
    Example(&'static str),
    /// Open the compared session, and compare it with the one that was open.
    Swap,
    /// End the comparison.
    Close,
}
