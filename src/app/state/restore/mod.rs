//! Restoring the source of a managed conversation.
//!
//! Here are its state and results; `ui/restore` draws them.

pub mod restoring;
