//! The comparison with a second session: its curve in the timeline, and the tab Compare with figures and contents that
//! only one session has.
//!
//! Here is how it is drawn; its state and results are in `state/compare`.

pub mod both;
pub mod contents;
pub mod detail;
pub mod figures;
pub mod panel;
