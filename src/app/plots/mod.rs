//! Plots over the calls of a session, and of a sweep, on top of `egui_plot`.

mod axes;
mod landmarks;
mod layer;
pub mod scatter;
pub mod timeline;

pub use axes::plain_plot;
