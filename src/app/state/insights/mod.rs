//! The tab Insights: insights into the session and the lanes, most severe first.
//!
//! Here are its state and results; `ui/insights` draws them.

pub mod list;
pub mod result;
pub mod session;
