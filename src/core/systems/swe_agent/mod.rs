//! SWE-agent 1.1.0 at 3ea751c0: history processors of `sweagent.agent.history_processors`.
//!
//! | file | contains |
//! |---|---|
//! | `elide` | `LastNObservations` |
//! | `remove_regex` | `RemoveRegex` |

mod elide;
mod remove_regex;

use crate::engine::NamedAction;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[elide::ACTION, remove_regex::ACTION];
