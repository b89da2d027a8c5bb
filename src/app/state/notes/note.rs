//! The note that is being written, and the commands of its dialog.

/// A note that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteDraft {
    /// Index of the message.
    pub message: usize,
    /// Text as typed.
    pub text: String,
}

/// A command of the dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteCommand {
    /// Show the dialog for a message.
    Start(usize),
    /// Change the text.
    Edit(String),
    /// Save the note. An empty text removes it.
    Save,
    /// Close the dialog.
    Close,
}
