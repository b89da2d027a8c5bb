//! Changes of a message in the focused lane, next to the original.

pub mod compute;
pub mod diff;
pub(in crate::app) mod diff_rows;
mod edits;
mod long_line;
mod message_changes;
pub(super) mod panel;
mod predicted_summary;
mod replacement;
