//! The open session: loading, following a growing file, pasting, and the start screen.
//!
//! Here are its state and results; `ui/open` draws them.

pub mod command;
pub mod examples;
pub mod followed_file;
pub mod loading;
pub mod opening;
pub mod recent;
