//! Shared parts of the plots, on top of `egui_plot`, and the scatter plot.

pub mod axes;
pub mod knob_curve;
pub mod layer;
mod named_points;
pub mod scatter;
