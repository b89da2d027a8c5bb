//! Conversations that cannot be counted: the run ends with the counter's error.

use super::count::Llm;
use super::image::is_image;
use crate::chat::{Block, BlockBody, Call, Calls, ChatMessage, message_to_json};
use crate::json::{Value, json};
use crate::languages::python::python_str;
use crate::systems::litellm::image;

impl Llm {
    /// Returns the reason why a conversation cannot be counted, if any.
    pub fn refusal(&self, messages: &[ChatMessage]) -> Option<String> {
        messages.iter().find_map(|message| {
            let block = |block: &Block| self.block_refusal(block);
            call_refusal(message).or_else(|| message.blocks().iter().find_map(block))
        })
    }

    fn block_refusal(&self, block: &Block) -> Option<String> {
        let list = |why: String| {
            format!(
                "Error getting number of tokens from content list: {why}, default_token_count=None"
            )
        };
        let unknown = |kind: &str| {
            list(format!(
                "Invalid content item type: {kind}. Expected str or dict with 'type' field (text, image_url, \
                 tool_use, tool_result, thinking)."
            ))
        };
        match &block.body {
            BlockBody::Image(_) if !is_image(block) => Some(unknown("image")),
            BlockBody::Image(_) if self.counter.skips_images => None,
            BlockBody::Image(image) => image::refusal(image).map(list),
            BlockBody::Other(value) if value.is_string() => None,
            BlockBody::Other(value) => match value["type"].as_str() {
                Some("text" | "tool_use" | "tool_result" | "thinking") => None,
                Some(kind) => Some(unknown(kind)),
                None => Some(list("'type'".to_owned())),
            },
            _ => None,
        }
    }
}

fn call_refusal(message: &ChatMessage) -> Option<String> {
    let no_function = |call: &Value| {
        let call = python_str(call);
        Some(format!("Unsupported tool call {call} must contain a function key"))
    };
    if let Calls::Other(other) = &message.calls {
        if let Value::Array(items) = &**other {
            return items.iter().find(|item| item.get("function").is_none()).and_then(no_function);
        }
        let message = python_str(&message_to_json(message));
        return Some(format!("Unsupported type for key tool_calls in message {message}"));
    }
    let lacks = |call: &&Call| call.function.is_none() && !call.rest.contains_key("function");
    message.calls().iter().find(lacks).and_then(|call| {
        let mut fields = (*call.rest).clone();
        if let Some(id) = &call.id {
            fields.insert("id".to_owned(), json!(&**id));
        }
        no_function(&Value::Object(fields))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;

    #[test]
    fn unknown_parts_and_calls_without_function_end_the_run() {
        let of = |json: Value| Llm::with_chars_4("gpt-4o").refusal(&[message_from_json(&json)]);
        assert!(
            of(json!({"role": "user", "content": ["bare", {"type": "text", "text": "a"}]}))
                .is_none()
        );
        assert!(
            of(json!({"role": "user", "content": [{"type": "input_audio"}]}))
                .is_some_and(|why| why.contains("Invalid content item type: input_audio."))
        );
        assert_eq!(
            of(json!({"role": "assistant", "tool_calls": [{"id": "a"}]})),
            Some("Unsupported tool call {'id': 'a'} must contain a function key".to_owned())
        );
    }
}
