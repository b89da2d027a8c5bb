//! Replays of all lanes for one configuration, and values read from them.

pub(super) mod copy_command;
pub mod own_count;
pub mod replays;
pub mod trigger_mark;
