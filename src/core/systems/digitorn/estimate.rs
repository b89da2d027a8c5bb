//! The two token estimates: one for hooks and pressure, one for the log of emergencies.
//!
//! Source: `runtime/hooks.py` (`TurnState`) and `runtime/compaction.py` of mbathe/digitorn-bridge. Both count
//! characters of texts and arguments. Ids, roles, pictures and tool definitions count 0 in both.

use crate::chat::{Arguments, Block, BlockBody, Call, Calls, ChatMessage, Content, Messages, Rule};
use crate::json::Value;
use crate::languages::python::python_str;
use crate::languages::python::{PythonError, class_of, is_true, len, signed};
use std::borrow::Cow;

/// Tokens added for each tool call.
const PER_CALL: usize = 150;

/// Characters per token.
pub const CHARS_PER_TOKEN: usize = 4;

/// Returns the estimate for hooks and pressure: characters / 4 rounded up, and 150 for each tool call.
///
/// # Errors
/// As the original raises, on a text block whose text is not a string.
pub fn hook_tokens(messages: &[ChatMessage]) -> Result<i64, PythonError> {
    let units = messages.iter().map(|m| cached(m, HOOKS, hook_units));
    Ok(signed(tokens_of(units.sum::<Result<usize, PythonError>>()?)))
}

/// Returns [`hook_tokens`] of a conversation that mostly grows, reusing the result for its beginning.
///
/// # Errors
/// As [`hook_tokens`].
pub(super) fn all_hook_tokens(messages: &Messages) -> Result<i64, PythonError> {
    Ok(signed(tokens_of(all(messages, HOOKS, hook_units)?)))
}

/// The cached rules of the estimates.
const HOOKS: Rule = Rule::new("digitorn: hooks");
const LOG: Rule = Rule::new("digitorn: log");

/// Returns a cached estimate of a message; not cached if it raises.
fn cached(
    message: &ChatMessage,
    rule: Rule,
    units: fn(&ChatMessage) -> Result<usize, PythonError>,
) -> Result<usize, PythonError> {
    const RAISES: u64 = u64::MAX;
    let units_or_raises = message.weigh(rule, |m| units(m).map_or(RAISES, |units| units as u64));
    if units_or_raises == RAISES { units(message) } else { Ok(units_or_raises as usize) }
}

/// Returns an estimate of all messages, continuing from the cached state; stops at a message that raises.
fn all(
    messages: &Messages,
    rule: Rule,
    units: fn(&ChatMessage) -> Result<usize, PythonError>,
) -> Result<usize, PythonError> {
    /// Number of messages counted, and their sum.
    #[derive(Clone, Default)]
    struct Counted(usize, usize);
    let counted = messages.updated_state(rule, |Counted(n, sum), messages| {
        for message in &messages[*n..] {
            let Ok(units) = cached(message, rule, units) else {
                break;
            };
            *sum += units;
            *n += 1;
        }
    });
    match messages.get(counted.0) {
        Some(raises) => units(raises),
        None => Ok(counted.1),
    }
}

/// Returns a message's part of the hook estimate, in quarters of a token.
pub(super) fn hook_units(message: &ChatMessage) -> Result<usize, PythonError> {
    let mut units = content_chars(&message.content)?;
    if has_calls(message) {
        let calls = calls_of(message)?;
        units += calls.len() * PER_CALL * CHARS_PER_TOKEN;
        units += calls.iter().map(argument_chars).sum::<usize>();
    }
    Ok(units)
}

/// Converts quarters of tokens to tokens.
pub(super) fn tokens_of(units: usize) -> usize {
    units.div_ceil(CHARS_PER_TOKEN)
}

/// Returns the estimate for the log of emergencies: characters, including tool names, / 4 rounded down.
///
/// # Errors
/// As the original raises: on `tool_calls: null`, and on a text block whose text is not a string.
pub fn log_tokens(messages: &[ChatMessage]) -> Result<i64, PythonError> {
    let chars = messages.iter().map(|m| cached(m, LOG, log_units));
    let chars: usize = chars.sum::<Result<_, _>>()?;
    Ok(signed(chars / CHARS_PER_TOKEN))
}

/// Returns [`log_tokens`] of a conversation that mostly grows.
///
/// # Errors
/// As [`log_tokens`].
pub(super) fn all_log_tokens(messages: &Messages) -> Result<i64, PythonError> {
    Ok(signed(all(messages, LOG, log_units)? / CHARS_PER_TOKEN))
}

/// Returns a message's part of the log estimate, in characters.
pub(super) fn log_units(message: &ChatMessage) -> Result<usize, PythonError> {
    let mut chars = content_chars(&message.content)?;
    for call in calls_of(message)? {
        chars += tool_name(call).map_or(0, |name| name.chars().count());
        chars += argument_chars(call);
    }
    Ok(chars)
}

fn content_chars(content: &Content) -> Result<usize, PythonError> {
    match content {
        Content::Text(text) => Ok(text.text.chars().count()),
        Content::Blocks(blocks) => blocks.iter().map(block_chars).sum(),
        Content::Missing | Content::Null | Content::Other(_) => Ok(0),
    }
}

/// `len(part.get("text", ""))` of a dict.
fn block_chars(block: &Block) -> Result<usize, PythonError> {
    let text = |value: &Value| value.get("text").map_or(Ok(0), len);
    match &block.body {
        BlockBody::Text(text) => Ok(text.chars().count()),
        BlockBody::Image(image) => text(&image.json),
        BlockBody::Thinking(value) | BlockBody::Other(value) => text(value),
        BlockBody::ToolUse { .. } | BlockBody::ToolResult { .. } => Ok(0),
    }
}

/// Returns whether `if message.get("tool_calls")` is true.
pub(super) fn has_calls(message: &ChatMessage) -> bool {
    match &message.calls {
        Calls::Missing | Calls::Null => false,
        Calls::List(calls) => !calls.is_empty(),
        Calls::Other(value) => is_true(value),
    }
}

/// `for call in message.get("tool_calls", [])`.
pub(super) fn calls_of(message: &ChatMessage) -> Result<&[Call], PythonError> {
    let no_list = |value: &Value| {
        PythonError::of_type(format!("'{}' object is not iterable", class_of(value)))
    };
    match &message.calls {
        Calls::Null => Err(no_list(&Value::Null)),
        Calls::List(calls) => Ok(calls),
        Calls::Missing => Ok(&[]),
        Calls::Other(value) => match &**value {
            Value::String(_) | Value::Object(_) if !is_true(value) => Ok(&[]),
            Value::String(_) | Value::Object(_) => {
                let why = "'str' object has no attribute 'get'";
                Err(PythonError::new("AttributeError", why))
            }
            Value::Array(items) => {
                let bare = items.iter().find(|item| !item.is_object());
                let class = bare.map_or("dict", class_of);
                let why = format!("'{class}' object has no attribute 'get'");
                Err(PythonError::new("AttributeError", why))
            }
            other => Err(no_list(other)),
        },
    }
}

/// Returns the tool name of a call.
pub(super) fn tool_name(call: &Call) -> Option<&str> {
    match &call.function {
        Some(function) => Some(&function.name),
        None => call.rest.get("function")?.get("name")?.as_str(),
    }
}

fn argument_chars(call: &Call) -> usize {
    let text = if let Some(function) = &call.function {
        match &function.arguments {
            Arguments::Text(text) => Cow::Borrowed(&**text),
            Arguments::Json(value) => Cow::Owned(python_str(value)),
            Arguments::Missing => Cow::Borrowed(""),
        }
    } else {
        let function = call.rest.get("function");
        let arguments = function.and_then(|function| function.get("arguments"));
        arguments.map_or(Cow::Borrowed(""), |value| Cow::Owned(python_str(value)))
    };
    text.chars().count()
}
