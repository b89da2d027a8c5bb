//! Manual edits: messages that the user pinned, cleared or dropped.

mod commands;
pub(super) mod list_menu;
pub mod marks;
pub(super) mod menu;
