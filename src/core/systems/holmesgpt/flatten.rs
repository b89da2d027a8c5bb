//! Converts a conversation for a summary without tools: calls and results become text, images a note.

use super::count::uncounted;
use super::image::is_image;
use crate::chat::{
    Arguments, Block, Call, Calls, ChatMessage, Content, Fields, Text, call_from_json,
};
use crate::languages::python::python_str;
use crate::languages::python::strip_end;

/// Converts calls to lines of the assistant's text, and results to user messages
/// (`_flatten_tool_messages_for_compaction`).
pub fn flatten_tool_messages(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    messages.iter().map(flatten).collect()
}

fn flatten(message: &ChatMessage) -> ChatMessage {
    if message.is("tool") {
        let id = message.call_id.as_deref().filter(|id| !id.is_empty());
        let label = match id {
            Some(id) => format!("[tool result for {id}]"),
            None => "[tool result]".to_owned(),
        };
        return ChatMessage::from(Fields {
            role: "user".into(),
            content: with_text(&message.content, &label, Side::Before),
            call_id: None,
            name: None,
            ..uncounted(message).into_fields()
        });
    }
    if message.is("assistant")
        && let Some(lines) = call_lines(&message.calls)
    {
        return ChatMessage::from(Fields {
            content: with_text(&message.content, &lines.join("\n"), Side::After),
            calls: Calls::Missing,
            ..uncounted(message).into_fields()
        });
    }
    message.clone()
}

/// Returns one line per call; `None` unless `tool_calls` is a list that is not empty. Skips items that are not objects.
fn call_lines(calls: &Calls) -> Option<Vec<String>> {
    match calls {
        Calls::List(calls) if !calls.is_empty() => Some(calls.iter().map(call_line).collect()),
        Calls::Other(other) => {
            let calls = other.as_array()?.iter().filter(|item| item.is_object());
            Some(calls.map(|item| call_line(&call_from_json(item))).collect())
        }
        _ => None,
    }
}

fn call_line(call: &Call) -> String {
    let (name, arguments) = if let Some(function) = &call.function {
        let arguments = match &function.arguments {
            Arguments::Text(text) => text.to_string(),
            Arguments::Json(value) => python_str(value),
            Arguments::Missing => String::new(),
        };
        (function.name.to_string(), arguments)
    } else {
        // A function without a name is stored among the other fields.
        let field = |key: &str| call.rest.get("function").and_then(|f| f.get(key));
        let text = |key: &str| field(key).map_or_else(String::new, python_str);
        (text("name"), text("arguments"))
    };
    strip_end(&format!("[tool call] {name} {arguments}")).to_owned()
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// Returns a content with one more text before or after it: as a block of a list, else as a line.
fn with_text(content: &Content, text: &str, side: Side) -> Content {
    let (original, part) = match content {
        Content::Blocks(blocks) => {
            let mut blocks = blocks.clone();
            let at = match side {
                Side::Before => 0,
                Side::After => blocks.len(),
            };
            blocks.insert(at, Block::text(text));
            return Content::Blocks(blocks);
        }
        Content::Text(original) => (original.text.to_string(), original.part),
        Content::Other(value) => (python_str(value), None),
        Content::Missing | Content::Null => (String::new(), None),
    };
    let text = match side {
        _ if original.is_empty() => text.to_owned(),
        Side::Before => format!("{text}\n{original}"),
        Side::After => format!("{original}\n{text}"),
    };
    Content::Text(Text { text: text.into(), part })
}

/// Replaces images with one note per message (`_strip_images_for_compaction`).
pub fn strip_images(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    messages.iter().map(without_images).collect()
}

fn without_images(message: &ChatMessage) -> ChatMessage {
    let Content::Blocks(blocks) = &message.content else {
        return message.clone();
    };
    let mut kept: Vec<Block> = blocks.iter().filter(|b| !is_image(b)).cloned().collect();
    let n_images = blocks.len() - kept.len();
    if n_images > 0 {
        kept.push(Block::text(format!(
            "[{n_images} image(s) were present but stripped from compaction]"
        )));
    }
    ChatMessage::from(Fields { content: Content::Blocks(kept), ..uncounted(message).into_fields() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{message_from_json, message_to_json};
    use crate::json::{Value, json};

    fn flat(message: &Value) -> Value {
        let messages = flatten_tool_messages(&[message_from_json(message)]);
        message_to_json(&messages[0])
    }

    #[test]
    fn blocks_get_a_block_and_empty_contents_the_line_alone() {
        assert_eq!(
            flat(&json!({"role": "tool", "content": [{"type": "text", "text": "a"}], "name": "f"})),
            json!({"role": "user", "content": [{"type": "text", "text": "[tool result]"}, {"type": "text", "text": "a"}]})
        );
        assert_eq!(
            flat(&json!({"role": "tool", "content": "", "tool_call_id": "x"})),
            json!({"role": "user", "content": "[tool result for x]"})
        );
        assert_eq!(
            flat(
                &json!({"role": "assistant", "content": "b", "tool_calls": [{"function": {"name": "f", "arguments": ""}}]})
            ),
            json!({"role": "assistant", "content": "b\n[tool call] f"})
        );
    }

    #[test]
    fn calls_that_are_not_objects_are_skipped() {
        let call = json!({"function": {"name": "f", "arguments": "{}"}});
        for (calls, content) in [
            (json!(["x"]), "said\n"),
            (json!(["x", call, 3]), "said\n[tool call] f {}"),
            (json!([{}]), "said\n[tool call]"),
        ] {
            let message = json!({"role": "assistant", "content": "said", "tool_calls": calls});
            assert_eq!(message_to_json(&message_from_json(&message)), message, "kept as it was");
            assert_eq!(flat(&message), json!({"role": "assistant", "content": content}));
        }
    }

    #[test]
    fn images_leave_one_note_a_message() {
        let image = json!({"type": "image_url", "image_url": {"url": "data:"}});
        let messages = [message_from_json(&json!({"role": "user", "content": [image, image]}))];
        let stripped = strip_images(&messages);
        assert_eq!(
            stripped[0].blocks()[0].as_text(),
            Some("[2 image(s) were present but stripped from compaction]")
        );
    }
}
