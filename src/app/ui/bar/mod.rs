//! The top bar: menu, session, chips with figures, and the model.

pub mod chips;
pub mod detail;
pub mod input;
pub mod menu;
pub mod model;
pub mod panel;
