//! Lines of a difference.

/// The text that contains a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Both texts.
    Same,
    /// The first text only.
    Removed,
    /// The second text only.
    Added,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// The text that contains it.
    pub side: Side,
    /// Its text in pieces.
    pub pieces: Vec<DiffPiece>,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffPiece {
    /// Its text.
    pub text: String,
    /// Whether it differs from the similar line in the other text.
    pub is_changed: bool,
}
