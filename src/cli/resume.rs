//! What `compact --resumable` says about the session that it put into a program's store.

use super::output::clean;
use crate::exec::Resumed;
use serde_json::{Value, json};

/// As JSON; null where nothing was put there.
pub(super) fn shape(resumed: Option<&Resumed>) -> Value {
    resumed.map_or(Value::Null, |resumed| {
        json!({
            "id": resumed.id,
            "command": resumed.command,
            "path": resumed.path.to_string_lossy(),
        })
    })
}

/// As a line for people.
pub(super) fn text(resumed: Option<&Resumed>) -> String {
    resumed.map_or_else(String::new, |resumed| {
        format!("resume with: {}\n", clean(&resumed.command))
    })
}
