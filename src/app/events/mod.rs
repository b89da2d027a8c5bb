//! The tab Events: every event of each lane's policy, with its cause.

mod detail;
pub mod list;
pub(super) mod panel;
pub mod text;
