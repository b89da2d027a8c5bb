//! Manual edits: messages that the user pinned, cleared or dropped.

pub(super) mod edits_button;
mod execute;
pub mod marks;
pub(super) mod menu;
