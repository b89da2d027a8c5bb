//! Token estimate: a quarter of the code points of each text, rounded down; 1,000 per image; 4 per message.
//!
//! Content and calls count; ids, names, reasoning and tool definitions do not.

use crate::chat::{
    Arguments, BlockBody, Call, Calls, ChatMessage, Content, Function, Rule, call_from_json,
};
use crate::json::{Map, Value};
use crate::languages::python::PythonError;
use crate::languages::python::python_str;
use crate::units::Tokens;

/// `APPROX_CHARS_PER_TOKEN`.
const CODE_POINTS_PER_TOKEN: u64 = 4;
/// An image, whatever its size.
// As in baseagent 18565d9, `src/core/compaction.py`, like the 4 of a message.
const IMAGE: Tokens = Tokens(1000);
/// Tokens of a message in addition to its content.
const MESSAGE: Tokens = Tokens(4);

/// Counts a text content.
const CONTENT: Rule = Rule::new("baseagent: content");

/// `estimate_tokens` of a text.
pub fn text_tokens(text: &str) -> Tokens {
    Tokens(text.chars().count() as u64 / CODE_POINTS_PER_TOKEN)
}

/// `estimate_total_tokens`.
///
/// # Errors
/// The original's exception: see [`message_tokens`].
pub fn total_tokens(messages: &[ChatMessage]) -> Result<Tokens, PythonError> {
    messages.iter().map(message_tokens).sum()
}

/// `estimate_message_tokens`.
///
/// # Errors
/// The original's exception if calls are `null` or a text is a number.
pub fn message_tokens(message: &ChatMessage) -> Result<Tokens, PythonError> {
    Ok(content_tokens(&message.content)? + calls_tokens(&message.calls)? + MESSAGE)
}

/// Returns [`message_tokens`] of any message; 0 for a message that the original cannot count.
pub(super) fn countable_tokens(message: &ChatMessage) -> Tokens {
    content_tokens(&message.content).unwrap_or_default()
        + calls_tokens(&message.calls).unwrap_or_default()
        + MESSAGE
}

fn content_tokens(content: &Content) -> Result<Tokens, PythonError> {
    match content {
        Content::Text(text) => Ok(text_tokens(&text.text)),
        Content::Blocks(blocks) => blocks.iter().map(|block| block_tokens(&block.body)).sum(),
        Content::Missing | Content::Null | Content::Other(_) => Ok(Tokens::ZERO),
    }
}

/// Counts the `text` of a part of any type; skips plain texts in the list.
fn block_tokens(block: &BlockBody) -> Result<Tokens, PythonError> {
    match block {
        BlockBody::Text(text) => Ok(text_tokens(text)),
        BlockBody::Image(image) => part_tokens(&image.json),
        BlockBody::Thinking(part) | BlockBody::Other(part) => part_tokens(part),
        BlockBody::ToolUse { .. } | BlockBody::ToolResult { .. } => Ok(Tokens::ZERO),
    }
}

fn part_tokens(part: &Value) -> Result<Tokens, PythonError> {
    let Value::Object(part) = part else {
        return Ok(Tokens::ZERO);
    };
    let is_image = part.get("type").is_some_and(|kind| kind.as_str() == Some("image_url"));
    let image = if is_image { IMAGE } else { Tokens::ZERO };
    Ok(field_tokens(part, "text")? + image)
}

fn calls_tokens(calls: &Calls) -> Result<Tokens, PythonError> {
    match calls {
        Calls::Missing => Ok(Tokens::ZERO),
        Calls::Null => Err(PythonError::not_iterable(&Value::Null)),
        Calls::List(calls) => calls.iter().map(call_tokens).sum(),
        // Iterating over a text gives texts, over a dict its keys: none of them is a call.
        Calls::Other(other) => match &**other {
            Value::String(text) if text.is_empty() => Ok(Tokens::ZERO),
            Value::Object(fields) if fields.is_empty() => Ok(Tokens::ZERO),
            Value::String(_) | Value::Object(_) => {
                Err(PythonError::no_get(&Value::String(String::new())))
            }
            Value::Array(items) => items.iter().map(item_tokens).sum(),
            other => Err(PythonError::not_iterable(other)),
        },
    }
}

/// Counts an item of a list that contains other values than objects.
fn item_tokens(item: &Value) -> Result<Tokens, PythonError> {
    if item.is_object() {
        call_tokens(&call_from_json(item))
    } else {
        Err(PythonError::no_get(item))
    }
}

fn call_tokens(call: &Call) -> Result<Tokens, PythonError> {
    if let Some(function) = &call.function {
        return Ok(text_tokens(&function.name) + arguments_tokens(call, function)?);
    }
    match call.rest.get("function") {
        None => Ok(Tokens::ZERO),
        Some(Value::Object(function)) => {
            Ok(field_tokens(function, "name")? + field_tokens(function, "arguments")?)
        }
        Some(other) => Err(PythonError::no_get(other)),
    }
}

fn arguments_tokens(call: &Call, function: &Function) -> Result<Tokens, PythonError> {
    match &function.arguments {
        Arguments::Missing => Ok(Tokens::ZERO),
        Arguments::Text(text) if call.part.is_some() => Ok(text_tokens(&as_stored(text))),
        Arguments::Text(text) => Ok(text_tokens(text)),
        Arguments::Json(value) => length_tokens(value),
    }
}

/// Converts arguments to the form in its own history: a session has them as JSON, the loop stores `str(dict)`. Wraps
/// invalid JSON as `raw` and drops values that are not objects.
fn as_stored(arguments: &str) -> String {
    let stored = match crate::json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => object,
        Ok(_) => Value::Object(Map::new()),
        Err(_) => Value::Object(Map::from_iter([("raw".to_owned(), arguments.into())])),
    };
    python_str(&stored)
}

/// `estimate_tokens(fields.get(key, ""))`.
fn field_tokens(fields: &Map<String, Value>, key: &str) -> Result<Tokens, PythonError> {
    fields.get(key).map_or(Ok(Tokens::ZERO), length_tokens)
}

/// `len(value or "") // 4`: a list counts its items, a dict its keys.
fn length_tokens(value: &Value) -> Result<Tokens, PythonError> {
    let length = match value {
        Value::Null | Value::Bool(false) => 0,
        Value::Number(number) if number.as_f64() == Some(0.0) => 0,
        Value::String(text) => return Ok(text_tokens(text)),
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        Value::Bool(true) | Value::Number(_) => return Err(PythonError::no_length(value)),
    };
    Ok(Tokens(length as u64 / CODE_POINTS_PER_TOKEN))
}

/// `estimate_tokens(content)` of a whole content, as used for clearing: a list counts its parts.
pub(super) fn whole_content_tokens(message: &ChatMessage) -> Result<Tokens, PythonError> {
    match &message.content {
        Content::Text(text) => Ok(Tokens(message.weigh(CONTENT, |_| text_tokens(&text.text).0))),
        Content::Blocks(blocks) => Ok(Tokens(blocks.len() as u64 / CODE_POINTS_PER_TOKEN)),
        Content::Missing | Content::Null => Ok(Tokens::ZERO),
        Content::Other(other) => length_tokens(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Rest, message_from_json};
    use crate::json::json;

    fn tokens(message: &Value) -> Result<Tokens, PythonError> {
        message_tokens(&message_from_json(message))
    }

    fn with_calls(calls: &Value) -> Value {
        json!({"role": "assistant", "content": "", "tool_calls": calls})
    }

    #[test]
    fn values_without_a_length_raise_as_in_python() {
        for (calls, text) in [
            (json!(7), "'int' object is not iterable"),
            (json!(true), "'bool' object is not iterable"),
            (json!("x"), "'str' object has no attribute 'get'"),
            (json!([{"function": null}]), "'NoneType' object has no attribute 'get'"),
            (
                json!([{"function": {"name": "x", "arguments": 1.5}}]),
                "object of type 'float' has no len()",
            ),
        ] {
            assert_eq!(tokens(&with_calls(&calls)).unwrap_err().text, text);
        }
    }

    #[test]
    fn falsy_values_count_nothing() {
        let calls = json!([
            {},
            {"function": {}},
            {"function": {"name": null, "arguments": 0}},
            {"function": {"name": "x", "arguments": null}},
        ]);
        assert_eq!(tokens(&with_calls(&calls)), Ok(Tokens(4)));
        assert_eq!(tokens(&with_calls(&json!({}))), Ok(Tokens(4)));
    }

    #[test]
    fn arguments_of_a_session_count_as_the_loop_would_store_them() {
        let call = |text: &str| Call {
            part: Some(0),
            id: None,
            function: Some(Function {
                name: "".into(),
                arguments: Arguments::Text(text.into()),
                rest: Rest::default(),
            }),
            rest: Rest::default(),
        };
        // {'flag': True, 'none': None}
        assert_eq!(call_tokens(&call(r#"{"flag":true,"none":null}"#)), Ok(Tokens(7)));
        // {'raw': '{"cmd": "l'}
        assert_eq!(call_tokens(&call(r#"{"cmd": "l"#)), Ok(Tokens(5)));
        assert_eq!(call_tokens(&call("[1,2,3,4,5]")), Ok(Tokens(0)));
    }
}
