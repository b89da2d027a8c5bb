//! Logs of live runs.

pub mod dialog;
pub mod list;
