//! Parts of messages: their positions, the ones that the model wrote, and their text to search.

use crate::json::Value;
use crate::session::{Body, Message, Session};
use std::borrow::Cow;
use std::ops::Range;

/// A position in the session: a message and one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextPosition {
    /// Index of the message.
    pub(super) message: u32,
    /// Index of the part.
    pub(super) part: u32,
}

/// Returns whether the model wrote this part of an answer.
pub(super) fn is_own(body: &Body) -> bool {
    matches!(body, Body::Text(_) | Body::Thinking { .. } | Body::ToolCall { .. })
}

/// Returns the messages of the answer of each call.
pub(super) fn answers(session: &Session) -> Vec<Range<usize>> {
    let mut answers = vec![0..0; session.calls.len()];
    for (idx, message) in session.messages.iter().enumerate() {
        let Some(answer) = message.call.and_then(|call| answers.get_mut(call)) else {
            continue;
        };
        let start = if answer.end == 0 { idx } else { answer.start };
        *answer = start..idx + 1;
    }
    answers
}

/// Returns the parts of an answer that the model wrote, with the index of their message.
pub(super) fn own_parts(
    session: &Session,
    call: usize,
    answer: Range<usize>,
) -> impl Iterator<Item = (usize, usize)> {
    let messages = answer.filter(move |idx| {
        let message: &Message = &session.messages[*idx];
        message.in_history && message.call == Some(call)
    });
    messages.flat_map(move |idx| {
        let parts = session.messages[idx].parts.clone();
        let own = parts.filter(move |part| is_own(&session.parts[*part].body));
        own.map(move |part| (idx, part))
    })
}

/// Returns the text of a part to search. Of JSON only the values count, so that an escape never becomes part of a name.
pub fn part_text(body: &Body) -> Cow<'_, str> {
    match body {
        Body::Text(text) | Body::Thinking { text, .. } | Body::ToolResult { text, .. } => {
            Cow::Borrowed(text)
        }
        Body::ToolCall { arguments, .. } => values(arguments),
        Body::ToolDefinition { json, .. } | Body::Opaque { json, .. } => values(json),
        Body::Media { .. } => Cow::Borrowed(""),
    }
}

/// Returns all strings and numbers of a JSON text, one per line; the text itself if it is not JSON.
fn values(json: &str) -> Cow<'_, str> {
    match crate::json::from_str(json) {
        Ok(Value::String(text)) => Cow::Owned(text),
        Ok(value) => {
            let mut text = String::with_capacity(json.len());
            gather(&value, &mut text);
            Cow::Owned(text)
        }
        Err(_) => Cow::Borrowed(json),
    }
}

fn gather(value: &Value, text: &mut String) {
    match value {
        Value::String(value) => line(text, value),
        Value::Number(number) => line(text, number.as_str()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, text)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, text)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn line(text: &mut String, value: &str) {
    text.push_str(value);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::values;
    use crate::session::identifiers;

    #[test]
    fn arguments_are_read_by_their_values_and_not_by_their_keys() {
        let json =
            r#"{"file_path":"/home/a/src/main.rs","code":"\tthis.agent\u0041 = 1;","limit":2000}"#;
        let text = values(json);
        let found: Vec<_> = identifiers(&text).collect();
        assert_eq!(found, ["src/main.rs", "this.agentA", "2000"]);
        assert_eq!(values("no JSON: snake_case"), "no JSON: snake_case");
    }
}
