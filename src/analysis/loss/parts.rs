//! What a part says, decoded: arguments of calls by their values, so that no escape makes a name.

use crate::session::Body;
use serde_json::Value;
use std::borrow::Cow;

/// The text of a part in which names are looked for.
pub(super) fn said(body: &Body) -> Cow<'_, str> {
    match body {
        Body::Text(text) | Body::Thinking { text, .. } | Body::ToolResult { text, .. } => {
            Cow::Borrowed(text)
        }
        Body::ToolCall { arguments, .. } => values(arguments),
        Body::ToolDefinition { json, .. } | Body::Opaque { json, .. } => values(json),
        Body::Media { .. } => Cow::Borrowed(""),
    }
}

/// All strings and numbers of a JSON text, a line each; the text itself if it is none.
fn values(json: &str) -> Cow<'_, str> {
    match serde_json::from_str(json) {
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
        Value::String(said) => line(text, said),
        Value::Number(number) => line(text, number.as_str()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, text)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, text)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn line(text: &mut String, said: &str) {
    text.push_str(said);
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
