//! Vercel AI SDK 7.0.173: `pruneMessages`, called before each step by `prepareStep`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | the action of presets, and the messages of a turn |
//! | `options` | options of `pruneMessages` |
//! | `prune` | `pruneMessages` |

mod actions;
mod options;
mod prune;

use crate::engine::NamedAction;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[actions::PRUNE];
