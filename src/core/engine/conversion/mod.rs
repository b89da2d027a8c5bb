//! Converts the context to the messages of an agent's program, and the messages that a named action left back to context
//! entries.

pub(super) mod contents;
pub(super) mod diff;
pub(super) mod entries;
pub(super) mod entry_updater;
pub(super) mod merge;
pub(super) mod message_edits;
pub(super) mod messages;
pub(super) mod originals;
pub(super) mod pieces;
pub(super) mod results_apart;
pub(super) mod sent;
pub(super) mod stand_in;
