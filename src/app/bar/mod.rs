//! The top bar.

mod chips;
pub(super) mod input;
mod menu;
mod model;
pub mod panel;
