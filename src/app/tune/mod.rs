//! The tab Tune: a sweep over settings, and a recommendation.

mod best;
mod commands;
mod controls;
pub(super) mod panel;
mod plot;
mod recommended;
pub mod state;
pub mod sweep;
