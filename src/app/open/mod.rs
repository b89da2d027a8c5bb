//! The open session: loading, following a growing file, pasting, and the start screen.

pub(super) mod conversations;
pub mod document;
pub mod examples;
mod follow;
pub(super) mod followed_file;
pub(super) mod loading;
pub mod paste;
pub mod path_dialog;
pub(super) mod progress;
pub(super) mod recent;
pub mod welcome;
