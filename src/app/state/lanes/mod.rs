//! The lanes side by side: figures, and every message under each policy at the selected call.
//!
//! Here are its state and results; `ui/lanes` draws them.

pub mod command;
pub mod lines;
pub mod result;
pub mod rows;
