//! Aider 0.86.2: `ChatSummary` and the coder's handling of finished turns.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `summarize` | `ChatSummary.summarize` |

mod actions;
mod summarize;

pub use actions::ACTIONS;
