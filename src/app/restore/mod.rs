//! Restoring the source of a managed conversation.

pub mod dialog;
mod execute;
pub mod restoring;
