//! Logs of live runs.

pub mod dialog;
mod execute;
pub mod list;
