//! Tool results as Cline's core sends them: the file holds them whole, but the middle of a long text is not sent.

use crate::formats::json;
use crate::json::Value;
use std::borrow::Cow;

/// Maximum length of a text in a result, in UTF-16 units.
// As in Cline's core 0.0.86, which sends the beginning and the end of a longer text.
const MAX_TEXT: usize = 8_000;
/// Number of times that the number of removed units is refined. It is a part of the text that replaces them.
// As in Cline's core. The number has the same digits from the second time on.
const REFINEMENTS: usize = 3;

/// Returns a message with the results as they are sent.
pub(super) fn of_message(message: &Value) -> Cow<'_, Value> {
    let blocks = message.get("content").and_then(Value::as_array);
    let is_long = |block: &Value| is_result(block) && block.get("content").is_some_and(has_long);
    if !blocks.is_some_and(|blocks| blocks.iter().any(is_long)) {
        return Cow::Borrowed(message);
    }
    let mut message = message.clone();
    let blocks = message.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten().filter(|block| is_result(block)) {
        if let Some(content) = block.get_mut("content") {
            shorten(content);
        }
    }
    Cow::Owned(message)
}

fn is_result(block: &Value) -> bool {
    json::str_at(block, &["type"]) == Some("tool_result")
}

/// Returns whether a value is media, whose data is sent whole.
fn is_media(value: &Value) -> bool {
    matches!(json::str_at(value, &["type"]), Some("image" | "document" | "audio"))
}

fn has_long(value: &Value) -> bool {
    match value {
        Value::String(text) => shortened(text).is_some(),
        Value::Array(values) => values.iter().any(has_long),
        Value::Object(_) if is_media(value) => false,
        Value::Object(members) => members.iter().any(|(_, value)| has_long(value)),
        _ => false,
    }
}

fn shorten(value: &mut Value) {
    if is_media(value) {
        return;
    }
    match value {
        Value::String(text) => {
            if let Some(short) = shortened(text) {
                *text = short;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(members) => members.iter_mut().for_each(|(_, value)| shorten(value)),
        _ => {}
    }
}

/// Returns a long text without its middle; `None` if it is sent whole.
fn shortened(text: &str) -> Option<String> {
    if text.len() <= MAX_TEXT {
        return None;
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut removed = units.len();
    let mut each = 0;
    units.len().checked_sub(MAX_TEXT + 1)?;
    for _ in 0..REFINEMENTS {
        each = MAX_TEXT.saturating_sub(note(removed).len()) / 2;
        removed = units.len() - 2 * each;
    }
    let [head, tail] = [&units[..each], &units[units.len() - each..]].map(String::from_utf16_lossy);
    Some(format!("{head}{}{tail}", note(removed)))
}

/// Returns the text in place of the removed units.
fn note(removed: usize) -> String {
    format!("\n\n...[truncated {removed} chars]...\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn long_texts_are_sent_without_their_middle() {
        assert_eq!(shortened(&"a".repeat(MAX_TEXT)), None);
        assert_eq!(shortened(&"ü".repeat(MAX_TEXT)), None);
        let short = shortened(&"ü".repeat(MAX_TEXT + 1_000)).unwrap();
        assert_eq!(short.chars().count(), MAX_TEXT);
        assert_eq!(short.matches("...[truncated 1032 chars]...").count(), 1);
        assert_eq!(short.chars().take_while(|c| *c == 'ü').count(), 3_984);
    }

    #[test]
    fn only_texts_of_results_are_shortened() {
        let long = "a".repeat(MAX_TEXT + 1);
        let text = json!({"role": "user", "content": [{"type": "text", "text": long}]});
        assert!(matches!(of_message(&text), Cow::Borrowed(_)));
        let image = json!({"type": "image", "data": long});
        let result = json!({"type": "tool_result", "content": [image, {"result": long}]});
        let sent = of_message(&json!({"role": "user", "content": [result]})).into_owned();
        let content = &sent["content"][0]["content"];
        assert_eq!(content[0]["data"].as_str().map(str::len), Some(MAX_TEXT + 1));
        assert_eq!(content[1]["result"].as_str().map(str::len), Some(MAX_TEXT));
    }
}
