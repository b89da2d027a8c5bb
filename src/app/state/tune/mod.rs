//! The tab Tune: a sweep over settings, and a recommendation.
//!
//! Here are its state and results; `ui/tune` draws them.

pub mod command;
pub mod result;
pub mod state;
pub mod sweep;
