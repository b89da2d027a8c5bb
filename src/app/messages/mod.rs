//! The tab Messages: the table of all messages and the selected message in full.

mod cell;
mod columns;
pub mod cumulative;
mod cumulative_cell;
pub(super) mod detail;
mod execute;
mod find;
pub(super) mod input;
pub mod order;
pub(super) mod panel;
pub mod state;
pub(super) mod text;
