//! Shared parts of the plots, on top of `egui_plot`, and the scatter plot.

pub mod axes;
mod landmarks;
pub mod layer;
pub mod scatter;
