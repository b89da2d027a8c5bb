//! The comparison with a second session: its curve in the timeline, and the tab Compare with figures and contents that
//! only one session has.
//!
//! Here are its state and results; `ui/compare` draws them.

pub mod command;
pub mod comparison;
pub mod state;
