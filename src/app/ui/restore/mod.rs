//! Restoring the source of a managed conversation.
//!
//! Here is how it is drawn; its state and results are in `state/restore`.

pub mod dialog;
