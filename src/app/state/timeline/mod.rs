//! The timeline: fill of the context at each call, with lanes and thresholds.
//!
//! Here are its state and results; `ui/timeline` draws them.

pub mod state;
