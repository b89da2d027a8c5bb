//! Logs of live runs.
//!
//! Here is how it is drawn; its state and results are in `state/run_logs`.

pub mod dialog;
