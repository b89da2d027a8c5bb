//! The tab Insights: insights into the session and the lanes, most severe first.

pub(super) mod input;
pub mod list;
pub(super) mod panel;
mod row;
pub mod session;
