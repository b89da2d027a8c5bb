//! `inject_message`: inserts a note of the application into the conversation.

use super::turn_state::TurnState;
use crate::chat::{ChatMessage, Content};
use crate::json::{Map, Value, json};
use crate::languages::python::is_true;
use crate::languages::python::python_str;

/// Injects the note; without content only adds a line to the log.
pub fn inject_message(state: &mut TurnState, params: &Map<String, Value>, log: &mut Vec<String>) {
    let content = params.get("content").unwrap_or(&Value::Null);
    if !is_true(content) {
        log.push("hook_inject: no content specified".to_owned());
        return;
    }
    let of = |key: &str, default: &str| params.get(key).cloned().unwrap_or_else(|| json!(default));
    let strategy = of("strategy", "auto");
    match strategy.as_str() {
        Some("auto" | "user") => {
            let note = format!("\n\n[System note: {}]", python_str(content));
            let last = state.messages.iter().rposition(|m| takes_text(m, "user"));
            if !append(state, last, &note) {
                to_system(state, content);
            }
        }
        Some("system") => to_system(state, content),
        _ => {
            let role = of("role", "user");
            let at = match of("position", "before_last").as_str() {
                Some("end") => state.messages.len(),
                _ => state.messages.len().saturating_sub(1),
            };
            insert(state, at, &python_str(&role), content);
        }
    }
}

/// Appends to the first system message, or inserts one at the start.
fn to_system(state: &mut TurnState, content: &Value) {
    let note = format!("\n\n{}", python_str(content));
    let first = state.messages.iter().position(|m| takes_text(m, "system"));
    if !append(state, first, &note) {
        insert(state, 0, "system", content);
    }
}

fn takes_text(message: &ChatMessage, role: &str) -> bool {
    message.is(role) && message.text().is_some()
}

fn append(state: &mut TurnState, idx: Option<usize>, note: &str) -> bool {
    let Some(message) = idx.and_then(|idx| state.messages.get_mut(idx)) else {
        return false;
    };
    let text = message.text().unwrap_or_default();
    *message = message.with_text(format!("{text}{note}"));
    state.is_changed = true;
    true
}

fn insert(state: &mut TurnState, at: usize, role: &str, content: &Value) {
    let mut message = ChatMessage::notice(role, "");
    message.content = match content {
        Value::String(text) => Content::text(text.as_str()),
        other => Content::Other(Box::new(other.clone())),
    };
    state.messages.insert(at, message);
    state.is_changed = true;
}
