//! The tab Insights: insights into the session and the lanes, most severe first.
//!
//! Here is how it is drawn; its state and results are in `state/insights`.

pub mod panel;
pub mod row;
