//! The target of a tool call in a few words.

use crate::json::{self, Value};
use crate::safe_text;
use crate::session::{COMMAND_KEYS, PATH_KEYS};

/// Arguments besides commands and paths that describe the target of a call, most specific first.
const SUBJECT_KEYS: [&str; 11] = [
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "input",
    "text",
    "name",
    "code",
    "subject",
    "content",
];

/// Returns the target of a call on one line: its command, path or query, else its first text, else its arguments.
pub(crate) fn subject(arguments: &str, max_chars: usize) -> String {
    let json = json::from_str(arguments).ok();
    let object = json.as_ref().and_then(Value::as_object);
    let keys = || COMMAND_KEYS.iter().chain(&PATH_KEYS).chain(&SUBJECT_KEYS);
    let named = object.and_then(|o| keys().find_map(|key| words(o.get(*key)?)));
    let first = || object.and_then(|o| o.values().find_map(words));
    // Reads only a small multiple of the displayed length from a long text.
    let line = |text: &str| safe_text::one_line(safe_text::head(text, 8 * max_chars), max_chars);
    named.or_else(first).map_or_else(|| line(arguments), |text| line(&text))
}

/// Returns a text, or the words of a command joined.
fn words(value: &Value) -> Option<std::borrow::Cow<'_, str>> {
    if let Some(text) = value.as_str() {
        return (!text.trim().is_empty()).then_some(text.into());
    }
    let words: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    words.filter(|w| !w.is_empty()).map(|w| w.join(" ").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_calls_are_described_by_their_subject() {
        let text = [
            r#"{"timeout": 5, "command": "cargo test"}"#,
            r#"{"command": ["bash", "-lc", "ls"]}"#,
            r#"{"limit": 3, "path": "src/main.rs"}"#,
            r#"{"other": "words", "n": 1}"#,
            r#"{"n": 1}"#,
            "*** Begin Patch",
        ]
        .map(|arguments| subject(arguments, 40));
        assert_eq!(
            text,
            ["cargo test", "bash -lc ls", "src/main.rs", "words", r#"{"n": 1}"#, "*** Begin Patch"]
        );
    }
}
