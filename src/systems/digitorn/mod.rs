//! Digitorn: hooks that watch the pressure of its own estimate and compact with a note or a summary.
//!
//! Reproduces the Python runtime, mbathe/digitorn-bridge @8d8eb4a6 (the version that its document describes), read
//! 2026-11-22.

mod actions;
pub mod agent_loop;
pub mod clock;
pub mod compact;
pub mod condition;
pub mod config;
pub mod document;
pub mod emergency;
pub mod estimate;
pub mod fault;
pub mod format;
pub mod go_rewrite;
pub mod hook;
pub mod hook_event;
pub mod inject;
pub mod log_message;
pub mod module_action;
pub mod notes;
pub mod provider_view;
mod python_json;
pub mod reminder;
pub mod runner;
pub mod safe_split;
pub mod snip;
pub mod tool_index;
pub mod tool_injection;
pub mod tool_result;
pub mod transcript;
pub mod turn_state;
pub mod window;

pub use actions::{ACTIONS, DOCUMENT_METER, METER, WINDOW};

#[cfg(test)]
mod tests;
