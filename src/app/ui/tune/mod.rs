//! The tab Tune: a sweep over settings, and a recommendation.
//!
//! Here is how it is drawn; its state and results are in `state/tune`.

pub mod best;
pub mod controls;
pub mod panel;
pub mod plot;
pub mod point_settings;
pub mod recommended;
