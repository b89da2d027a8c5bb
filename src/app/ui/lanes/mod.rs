//! The lanes side by side: figures, and every message under each policy at the selected call.
//!
//! Here is how it is drawn; its state and results are in `state/lanes`.

pub mod cell;
pub mod figure;
pub mod figure_grid;
pub mod figures;
pub mod fold;
pub mod head;
pub mod hints;
pub mod own_estimate;
pub mod panel;
pub mod row_text;
