//! The timeline: fill of the context at each call, with lanes and thresholds.
//!
//! Here is how it is drawn; its state and results are in `state/timeline`.

pub mod panel;
pub mod plot;
pub mod range;
