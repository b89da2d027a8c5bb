//! Mistral Vibe 2.26.1: `CompactionManager`, `AutoCompactMiddleware` and `ContextWarningMiddleware`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `envelope` | the message in place of the history: the user's messages and a summary |
//! | `summarize` | the summary requests |

mod actions;
mod envelope;
mod summarize;

pub use actions::ACTIONS;
