//! Changes of a message in the focused lane, next to the original.

pub mod changed;
pub mod compute;
pub mod diff;
pub mod diff_line;
pub mod edits;
pub mod long_line;
pub mod message_changes;
pub mod plain_line;
pub mod predicted_summary;
pub mod replacement;
pub mod result;
