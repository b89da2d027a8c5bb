//! The top bar: menu, session, chips with figures, and the model.

mod chips;
pub(super) mod input;
mod menu;
mod model;
pub mod panel;
