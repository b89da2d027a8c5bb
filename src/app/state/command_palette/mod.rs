//! The command palette (Ctrl+K): finds and runs commands, and goes to calls, messages, lanes and recent files.

pub mod rank;
pub mod state;
