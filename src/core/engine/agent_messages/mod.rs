//! Converts the context to the messages of an agent's program.

pub(super) mod contents;
pub(super) mod messages;
pub(super) mod pieces;
pub(super) mod stand_in;
