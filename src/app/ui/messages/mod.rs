//! The tab Messages: the table of all messages and the selected message in full.
//!
//! Here is how it is drawn; its state and results are in `state/messages`.

pub mod cell;
pub mod columns;
pub mod cumulative_cell;
pub mod detail;
pub mod find;
pub mod panel;
