//! The tab Messages: the table of all messages and the selected message in full.
//!
//! Here are its state and results; `ui/messages` draws them.

pub mod cumulative;
pub mod order;
pub mod result;
pub mod state;
pub mod text;
