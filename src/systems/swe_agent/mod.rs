//! SWE-agent 1.1.0 at 3ea751c0: history processors of `sweagent.agent.history_processors`.
//!
//! | file | contains |
//! |---|---|
//! | `elide` | `LastNObservations` |
//! | `remove_regex` | `RemoveRegex` |

mod elide;
mod remove_regex;

use crate::engine::{Edits, NamedAction, RewriteInput, Rewritten};
use serde_json::json;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[elide::ACTION, remove_regex::ACTION];

/// Returns the result of a processor that runs on the whole history for every call. It counts as new if it changes
/// another number of messages than at the call before, which is kept in memory under `key`.
fn processed(input: &RewriteInput<'_>, key: &str, edits: Edits) -> Rewritten {
    let n_before = input.memory[key].as_u64().unwrap_or(0);
    Rewritten {
        repeats: edits.len() as u64 == n_before,
        memory: json!({key: edits.len()}).into(),
        edits,
        ..Rewritten::default()
    }
}
