//! The page *Usage*: what the calls of all listed sessions used, by day, project, model or another key.
//!
//! Here is how it is drawn; its state and results are in `state/sessions/usage`.

mod chart;
mod controls;
pub mod panel;
mod table;
