//! The lanes side by side: figures, and every message under each policy at the selected call.

mod cell;
pub mod command;
mod execute;
mod figure_grid;
mod figures;
mod fold;
mod head;
mod hints;
pub(super) mod input;
pub mod lane_context;
pub mod lines;
mod own_estimate;
pub(super) mod panel;
mod row_text;
pub mod rows;
