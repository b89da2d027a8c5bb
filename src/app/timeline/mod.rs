//! The timeline: fill of the context at each call, with lanes and thresholds.

pub(super) mod input;
pub(super) mod panel;
pub mod plot;
mod range;
pub mod state;
