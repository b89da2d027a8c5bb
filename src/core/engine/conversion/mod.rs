//! Converts the messages that a named action left back to context entries.

pub(super) mod diff;
pub(super) mod entries;
pub(super) mod entry_updater;
pub(super) mod merge;
pub(super) mod message_edits;
pub(super) mod results_apart;
mod rewrite;
pub(super) mod sent;
