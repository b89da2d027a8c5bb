//! The top bar.

mod chips;
mod menu;
mod model;
pub mod panel;
