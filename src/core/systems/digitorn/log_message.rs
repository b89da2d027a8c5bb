//! `log`: writes a line to the application's log, with figures of the turn.

use super::turn_state::TurnState;
use crate::json::{Map, Value};
use crate::languages::python::format::format_text;
use crate::languages::python::{PythonError, class_of, signed};

/// The default line of a hook.
const DEFAULT: &str = "Hook fired: turn={turn} tokens={tokens}";

/// Writes the log line.
///
/// # Errors
/// As `str.format` raises.
pub fn log_message(
    state: &mut TurnState,
    params: &Map<String, Value>,
    log: &mut Vec<String>,
) -> Result<(), PythonError> {
    let line = filled(state, params, DEFAULT)?;
    log.push(format!("hook_log: {line}"));
    Ok(())
}

/// Fills the placeholders of the message (default: `default`).
///
/// # Errors
/// As `str.format` raises.
pub(super) fn filled(
    state: &mut TurnState,
    params: &Map<String, Value>,
    default: &str,
) -> Result<String, PythonError> {
    let template = match params.get("message") {
        None => default,
        Some(Value::String(text)) => text,
        Some(other) => {
            let class = class_of(other);
            let why = format!("'{class}' object has no attribute 'format'");
            return Err(PythonError::new("AttributeError", why));
        }
    };
    let fields = [
        ("turn", state.turn),
        ("tokens", state.estimated_tokens()?),
        ("tools", state.tool_calls),
        ("messages", signed(state.messages.len())),
        ("max_turns", state.max_turns),
    ];
    format_text(template, &fields)
}
