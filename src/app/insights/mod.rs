//! The tab Insights: findings about the session and the lanes, most severe first.

pub mod list;
pub(super) mod panel;
mod row;
pub mod session;
