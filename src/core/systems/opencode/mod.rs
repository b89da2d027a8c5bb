//! `OpenCode`, the engine of its command line: `opencode-ai` 1.18.34, `session/compaction`, `session/overflow`,
//! `session/message-v2` and `tool/truncate`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `units` | messages as the program stores them, and their token estimate |
//! | `tail` | the end of the conversation that is kept |
//! | `request` | the summary request |
//! | `truncate` | truncation of tool results |

mod actions;
mod request;
mod tail;
mod truncate;
mod units;

pub use actions::ACTIONS;
