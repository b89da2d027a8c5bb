//! Results of commands.

use super::theme::Theme;
use crate::report::Drawing;
use std::path::PathBuf;

/// Result of a command.
#[derive(Debug)]
pub(super) enum Status {
    /// Done.
    Done,
    /// Done, but a check of the result failed.
    CheckFailed,
    /// Done except for a picture, which the window's renderer paints.
    Paints(Box<Picture>),
}

/// A drawing that the window's renderer paints into a file.
#[derive(Debug)]
pub struct Picture {
    /// Drawing to paint.
    pub drawing: Drawing,
    /// Colors.
    pub theme: Theme,
    /// Path of the new PNG file.
    pub output: PathBuf,
}
