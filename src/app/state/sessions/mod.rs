//! The list of sessions on this machine, and the search in all of them.
//!
//! Here are its state and results; `ui/sessions` draws them.

pub mod list;
pub mod search;
