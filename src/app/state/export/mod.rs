//! Export of a managed conversation: the form, its stages and the result.
//!
//! Here are its state and results; `ui/export` draws them.

pub mod command;
pub mod draft;
pub mod job;
pub mod stage;
