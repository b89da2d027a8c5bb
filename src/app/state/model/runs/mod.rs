//! Replays of all lanes for one configuration, and values read from them.

pub mod own_count;
pub mod replays;
pub mod result;
pub mod trigger_mark;
