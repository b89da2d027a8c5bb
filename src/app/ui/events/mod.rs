//! The tab Events: every event of each lane's policy, with its cause.
//!
//! Here is how it is drawn; its state and results are in `state/events`.

pub mod detail;
pub mod panel;
