//! Manual edits: messages that the user pinned, cleared or dropped.

mod execute;
pub(super) mod list_menu;
pub mod marks;
pub(super) mod menu;
