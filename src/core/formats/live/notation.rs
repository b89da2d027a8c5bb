//! The notation of a program's messages.

use crate::json::Value;

/// Notation of messages that tell no other.
pub const PLAIN: &str = "openai_chat";

/// Returns the notation that a message has and no other; `None` if it is only a role and a text.
pub fn notation(message: &Value) -> Option<&'static str> {
    let has = |key: &str| message.get(key).is_some();
    if has("parts") {
        return Some("gemini_api");
    }
    let kind = message.get("type").and_then(Value::as_str);
    if kind.is_some_and(|kind| kind != "message" || has("content")) && !has("tool_calls") {
        return Some("openai_responses");
    }
    let role = message.get("role").and_then(Value::as_str);
    if has("tool_calls") || has("function_call") || role == Some("tool") {
        return Some("openai_chat");
    }
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut kinds = blocks.filter_map(|block| Some((block, block.get("type")?.as_str()?)));
    kinds.find_map(|(block, kind)| match kind {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "document" => {
            Some("anthropic_messages")
        }
        "image" if block.get("source").is_some() => Some("anthropic_messages"),
        "image_url" | "input_audio" | "refusal" => Some("openai_chat"),
        "input_text" | "output_text" | "input_image" => Some("openai_responses"),
        _ => None,
    })
}
