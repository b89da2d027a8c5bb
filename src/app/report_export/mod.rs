//! Export of the report or the chart to a file.

pub mod dialog;
mod execute;
pub mod job;
