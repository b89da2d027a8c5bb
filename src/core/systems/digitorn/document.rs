//! Differences of Digitorn's document from the shipped code, expressed in the shipped code's terms.

use super::emergency::{Emergency, truncate_oversized};
use super::estimate::log_tokens;
use super::notes::{Wording, rebuild};
use super::reminder::{ReminderInputs, context_reminder};
use super::safe_split::{safe_keep, split_system};
use super::tool_injection::ToolInjection;
use crate::chat::ChatMessage;
use crate::json::{Map, Value, json};
use crate::languages::python::PythonError;

/// Converts a hook to the document's meaning: `turn_count` fires at one turn, given by `count`; `inject_message` takes
/// `message` and `role`.
pub fn as_documented(hook: &Value) -> Value {
    let mut hook = hook.clone();
    if let Some(condition) = hook.get_mut("condition").and_then(Value::as_object_mut) {
        at_one_turn(condition);
    }
    if let Some(action) = hook.get_mut("action").and_then(Value::as_object_mut)
        && action.get("type") == Some(&json!("inject_message"))
        && let Some(message) = action.shift_remove("message")
    {
        action.insert("content".to_owned(), message);
        let strategy = match action.get("role").and_then(Value::as_str) {
            Some("system") => "system",
            Some("user") | None => "user",
            Some(_) => "new_message",
        };
        action.insert("strategy".to_owned(), json!(strategy));
    }
    hook
}

fn at_one_turn(condition: &mut Map<String, Value>) {
    if condition.get("type") != Some(&json!("turn_count")) {
        return;
    }
    let Some(count) = condition.get("count").and_then(Value::as_i64) else {
        return;
    };
    let from = |turn: i64| json!({"type": "turn_count", "threshold": turn});
    let ends = json!({"type": "not", "condition": from(count + 1)});
    *condition = Map::from_iter([
        ("type".to_owned(), json!("all_of")),
        ("conditions".to_owned(), json!([from(count), ends])),
    ]);
}

/// Reduces to half of the window and half of the kept messages without separating calls from results: removes messages
/// until they fit.
///
/// # Errors
/// As estimates and the reminder raise.
pub fn emergency(
    messages: Vec<ChatMessage>,
    max_tokens: i64,
    keep_recent: i64,
    mode: ToolInjection,
    inputs: ReminderInputs<'_>,
) -> Result<Emergency, PythonError> {
    let (system, conversation) = split_system(&messages);
    let n = conversation.len();
    let mut kept = n;
    for keep in (1..=keep_recent.div_euclid(2).max(1)).rev() {
        kept = safe_keep(conversation, keep)?;
        let tail = conversation.get(n - kept..).unwrap_or_default();
        if log_tokens(tail)? <= max_tokens / 2 {
            break;
        }
    }
    let (old, tail) = conversation.split_at(n - kept);
    let messages = if old.is_empty() {
        messages
    } else {
        let reminder = context_reminder(inputs, mode, tail)?;
        rebuild(system, Wording::Document.dropped(old.len(), &reminder), tail)
    };
    Ok(Emergency { messages: truncate_oversized(messages, max_tokens), log: Vec::new() })
}
