//! Codex CLI 0.169.0: its own compaction, for providers without one.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | the action of presets |
//! | `compact` | the summary request, and the history afterwards |
//! | `estimate` | token estimates from bytes |

mod actions;
mod compact;
mod estimate;

pub use actions::ACTIONS;
