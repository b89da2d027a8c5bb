//! PicoClaw's token estimate: two tokens for every five characters.
//!
//! Before: only characters of the contents, rounded once. As built: message by message, with calls, reasoning and
//! media. Texts count by code points, calls and ids by bytes, so a CJK character is 0.4 tokens in a text and 1.2 in
//! arguments.

use super::message::{call_id, id_of, media_of, system_parts, text_of, type_of};
use crate::chat::{Arguments, Call, ChatMessage, Rule};
use crate::json::Value;
use crate::languages::go::marshal;

/// Characters added for each message's role and separators.
// The numbers of this file are those of picoclaw cf67dd38, `pkg/tokenizer/estimator.go`.
const MESSAGE_OVERHEAD: u64 = 12;

/// Characters added for each of a system message's parts.
const PART_OVERHEAD: u64 = 20;

/// Tokens of a picture or file, whatever its size.
const MEDIA_TOKENS: u64 = 256;

/// Characters added for each tool definition.
const TOOL_OVERHEAD: u64 = 20;

/// The cached rules of the two estimates.
const BEFORE: Rule = Rule::new("picoclaw: before");
const AFTER: Rule = Rule::new("picoclaw: after");

/// Converts characters to tokens.
pub fn tokens_of_chars(chars: u64) -> u64 {
    chars.saturating_mul(2) / 5
}

/// Returns the characters that count before: those of the message's text.
pub fn content_chars(message: &ChatMessage) -> u64 {
    runes(&text_of(message))
}

/// Returns the tokens of messages as counted before.
pub fn tokens_before(messages: &[ChatMessage]) -> u64 {
    tokens_of_chars(messages.iter().map(|m| m.weigh(BEFORE, content_chars)).sum())
}

/// Returns the tokens of one message as built.
pub fn message_tokens(message: &ChatMessage) -> u64 {
    // The parts of a system prompt are another form of its text: the larger counts.
    let parts: u64 = system_parts(message).map(|part| runes(part) + PART_OVERHEAD).sum();
    let reasoning = message.reasoning.as_ref().map_or(0, |r| runes(&r.text));
    let calls: u64 = message.calls().iter().map(call_bytes).sum();
    let chars = content_chars(message).max(parts)
        + reasoning
        + calls
        + bytes(call_id(message))
        + MESSAGE_OVERHEAD;
    tokens_of_chars(chars) + MEDIA_TOKENS * media_of(message) as u64
}

/// Returns [`message_tokens`], cached.
pub fn known_tokens(message: &ChatMessage) -> u64 {
    message.weigh(AFTER, message_tokens)
}

/// Returns the tokens of messages as built: each is rounded down separately.
pub fn tokens_after(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(known_tokens).sum()
}

/// Returns the tokens of the tool definitions, rounded once.
pub fn tool_tokens(definitions: &[Value]) -> u64 {
    tokens_of_chars(definitions.iter().map(definition_chars).sum())
}

/// Returns the characters of a definition in OpenAI's format, or with the same fields at its top level.
fn definition_chars(definition: &Value) -> u64 {
    let function = definition.get("function").unwrap_or(definition);
    let text = |key: &str| function.get(key).and_then(Value::as_str).map_or(0, bytes);
    let parameters = ["parameters", "input_schema"]
        .iter()
        .find_map(|key| function.get(*key))
        .filter(|parameters| !parameters.is_null());
    text("name")
        + text("description")
        + parameters.map_or(0, |p| bytes(&marshal(p)))
        + TOOL_OVERHEAD
}

/// Returns the bytes of a call: of its function, or of the name at its top level.
fn call_bytes(call: &Call) -> u64 {
    let field = |value: Option<&Value>| value.and_then(Value::as_str).map_or(0, bytes);
    let function = match (&call.function, call.rest.get("function")) {
        (Some(function), _) => bytes(&function.name) + arguments_bytes(&function.arguments),
        // One without a name is kept verbatim.
        (None, Some(Value::Object(function))) => field(function.get("arguments")),
        (None, _) => field(call.rest.get("name")),
    };
    bytes(id_of(call)) + bytes(type_of(call)) + function
}

fn arguments_bytes(arguments: &Arguments) -> u64 {
    match arguments {
        Arguments::Text(text) => bytes(text),
        Arguments::Json(value) => bytes(&marshal(value)),
        Arguments::Missing => 0,
    }
}

fn runes(text: &str) -> u64 {
    text.chars().count() as u64
}

fn bytes(text: &str) -> u64 {
    text.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    #[test]
    fn a_call_without_a_function_counts_by_its_name() {
        let call = json!({"id": "c", "type": "function", "name": "grep"});
        let message = message_from_json(&json!({"role": "assistant", "tool_calls": [call]}));
        assert_eq!(message_tokens(&message), (1 + 8 + 4 + 12) * 2 / 5);
    }

    #[test]
    fn texts_count_by_characters_and_calls_by_bytes() {
        let tokens = |message: Value| message_tokens(&message_from_json(&message));
        let function = json!({"name": "读取", "arguments": "{\"路径\":\"中\"}"});
        let call = json!({"id": "call_1", "type": "function", "function": function});
        for (message, counted) in [
            (json!({"role": "user", "content": ""}), 4),
            (json!({"role": "user", "content": "中文中文中"}), 6),
            (json!({"role": "user", "content": "👩‍👩‍👧‍👦"}), 7),
            (json!({"role": "assistant", "content": "x", "reasoning_content": "think 思考"}), 8),
            (json!({"role": "user", "content": "look", "media": ["a.png", "b.png"]}), 518),
            (json!({"role": "assistant", "content": "", "tool_calls": [call]}), 19),
            (json!({"role": "tool", "content": "res", "tool_call_id": "call_abc"}), 9),
            (json!({"role": "system", "content": "abc", "system_parts": [{"text": "abc"}]}), 14),
        ] {
            assert_eq!(tokens(message.clone()), counted, "{message}");
        }
    }

    #[test]
    fn a_definition_counts_the_same_in_either_shape() {
        let parameters = json!({"type": "object"});
        let openai = json!({"type": "function", "function": {"name": "a", "description": "é<", "parameters": parameters}});
        let anthropic = json!({"name": "a", "description": "é<", "input_schema": parameters});
        assert_eq!(tool_tokens(&[openai]), (1 + 3 + 17 + 20) * 2 / 5);
        assert_eq!(tool_tokens(&[anthropic]), (1 + 3 + 17 + 20) * 2 / 5);
        assert_eq!(tool_tokens(&[json!({"name": "a", "input_schema": null})]), 21 * 2 / 5);
    }
}
