//! Logs of live runs.
//!
//! Here are its state and results; `ui/run_logs` draws them.

pub mod list;
