//! The command palette (Ctrl+K): finds and runs commands, and goes to calls, messages, lanes and recent files.

pub(super) mod dialog;
mod entries;
mod execute;
mod rank;
pub mod state;
