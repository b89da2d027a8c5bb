//! State of the command palette, and its commands.

/// State of the open palette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaletteState {
    /// Typed text.
    pub text: String,
    /// Index of the highlighted entry.
    pub highlighted: usize,
}

/// A command of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaletteCommand {
    /// Show it, unless another dialog is open.
    Show,
    /// Close it.
    Close,
    /// Change the typed text.
    Type(String),
    /// Highlight the entry with this index.
    Highlight(usize),
    /// Run the highlighted entry for this text, which may have been typed together with Enter.
    Enter(PaletteState),
}
