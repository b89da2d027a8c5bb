//! The reply to an event.

use super::store::{SessionFile, SessionState};
use crate::json::json;

/// The reply to an event.
#[derive(Debug)]
pub(super) struct Reply {
    /// Text for standard output; empty if there is nothing to say.
    pub(super) output: String,
    /// Line for the log, if the event was handled.
    pub(super) note: Option<String>,
    /// State to keep after the output was printed.
    keep: Option<(SessionFile, SessionState)>,
}

impl Reply {
    /// Returns the reply to an event that needs none.
    pub(super) fn none() -> Self {
        Self { output: String::new(), note: None, keep: None }
    }

    /// Returns a reply with its output and its line for the log.
    pub(super) fn new(output: String, note: String) -> Self {
        Self { output, note: Some(note), keep: None }
    }

    /// Adds a state to keep after the output was printed: text that was not printed must come back later.
    pub(super) fn keeping(self, file: SessionFile, state: SessionState) -> Self {
        Self { keep: Some((file, state)), ..self }
    }

    /// Keeps the state.
    ///
    /// # Errors
    /// Returns one line if it cannot be written.
    pub(super) fn keep(&self) -> Result<(), String> {
        self.keep.as_ref().map_or(Ok(()), |(file, state)| file.write(state))
    }
}

/// Returns the output that adds a text to the context; empty without text.
pub(super) fn additional_context(event: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let specific = json!({"hookEventName": event, "additionalContext": text});
    json!({"hookSpecificOutput": specific}).to_string()
}
