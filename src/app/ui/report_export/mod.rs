//! Export of the report or the chart to a file.

pub mod dialog;
pub mod job;
