//! The tab Events: every event of each lane's policy, with its cause.
//!
//! Here are its state and results; `ui/events` draws them.

pub mod list;
pub mod result;
pub mod text;
