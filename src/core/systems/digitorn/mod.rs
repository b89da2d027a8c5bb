//! Digitorn: hooks that watch the pressure of its own estimate and compact with a note or a summary.
//!
//! Reproduces the Python runtime, mbathe/digitorn-bridge @8d8eb4a6 (the version that its document describes), read
//! 2026-11-22.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions, meters and windows of presets |
//! | `config` | an application's own configuration |
//! | `hook`, `condition`, `runner` | hooks, their conditions, their execution |
//! | `compact`, `inject`, `log_message`, `module_action` | actions of hooks |
//! | `turn_state`, `clock` | state that hooks read and change |
//! | `estimate`, `window` | token estimates, windows of models |
//! | `notes`, `reminder`, `tool_index`, `tool_injection`, `transcript` | texts of a compaction |
//! | `safe_split` | position of the cut |
//! | `emergency`, `turn_limit` | a rejected request, the end of the turns |
//! | `tool_result`, `provider_view` | messages that enter the conversation and leave for the provider |
//! | `document` | differences between the document and the code |
//! | `go_rewrite` | the later rewrite in Go |
//! | `stop` | the reason why a rule stopped |

mod actions;
pub mod clock;
pub mod compact;
pub mod condition;
pub mod config;
pub mod document;
pub mod emergency;
pub mod estimate;
pub mod go_rewrite;
pub mod hook;
pub mod inject;
pub mod log_message;
pub mod module_action;
pub mod notes;
pub mod provider_view;
pub mod reminder;
pub mod runner;
pub mod safe_split;
pub mod stop;
pub mod tool_index;
pub mod tool_injection;
pub mod tool_result;
pub mod transcript;
pub mod turn_limit;
pub mod turn_state;
pub mod window;

pub use actions::{ACTIONS, DOCUMENT_METER, METER, WINDOW};

#[cfg(test)]
mod tests;
