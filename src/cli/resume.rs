//! The result of `compact --resumable`: the session added to the agent's own store.

use super::output::clean;
use crate::exec::Resumed;
use serde_json::{Value, json};

/// Returns JSON; null if no session was added.
pub(super) fn shape(resumed: Option<&Resumed>) -> Value {
    resumed.map_or(Value::Null, |resumed| {
        json!({
            "id": resumed.id,
            "command": resumed.command,
            "path": resumed.path.to_string_lossy(),
        })
    })
}

/// Returns a line of text.
pub(super) fn text(resumed: Option<&Resumed>) -> String {
    resumed.map_or_else(String::new, |resumed| {
        format!("resume with: {}\n", clean(&resumed.command))
    })
}
