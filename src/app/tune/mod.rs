//! The tab Tune: a sweep over settings, and a recommendation.

mod best;
pub mod command;
mod controls;
mod execute;
pub(super) mod input;
pub(super) mod panel;
mod plot;
mod point_settings;
mod recommended;
pub mod state;
pub mod sweep;
