//! The list of sessions on this machine, the search in all of them, and what their calls used.
//!
//! Here are its state and results; `ui/sessions` draws them.

pub mod list;
pub mod search;
pub mod usage;
