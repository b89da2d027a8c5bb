//! Messages as text.

use crate::chat::{Block, BlockBody, ChatMessage, Content};
use crate::json::Value;
use crate::languages::python::{Layout, python_dumps};

/// Returns a message as text. `tool` is the tool of a result. Reasoning is omitted. With details, calls have their id.
pub(super) fn render(message: &ChatMessage, tool: &str, with_details: bool) -> String {
    let role = &message.role;
    let id = |id: Option<&str>| match id.filter(|id| with_details && !id.is_empty()) {
        Some(id) => format!(" id={id}"),
        None => String::new(),
    };
    if message.is("tool") {
        let id = id(message.call_id.as_deref());
        return format!("[tool:{tool}{id}] {}", result(message, with_details));
    }
    let mut lines = Vec::new();
    let texts: Vec<&str> = match &message.content {
        // An empty text beside calls is no content.
        Content::Text(text) if text.text.is_empty() && !message.calls().is_empty() => Vec::new(),
        Content::Text(text) => vec![&text.text],
        Content::Blocks(blocks) => blocks.iter().filter_map(Block::as_text).collect(),
        _ => Vec::new(),
    };
    if !texts.is_empty() {
        lines.push(format!("[{role}] {}", texts.join("\n")));
    }
    for call in message.calls() {
        let arguments = python_dumps(&sorted(call.arguments_as_value()), Layout::ASCII);
        let (id, tool) = (id(call.id.as_deref()), call.tool());
        lines.push(format!("[{role} -> tool_call{id}] {tool}({arguments})"));
    }
    let image = format!("[{role}] {}", placeholder(with_details));
    lines.extend((0..n_images(message)).map(|_| image.clone()));
    if lines.is_empty() {
        lines.push(format!("[{role}] <no content>"));
    }
    lines.join("\n")
}

/// Returns the text of a result.
fn result(message: &ChatMessage, with_details: bool) -> String {
    let text = |block: &Block| block.as_text().unwrap_or(placeholder(with_details)).to_owned();
    match &message.content {
        Content::Blocks(blocks) => blocks.iter().map(text).collect(),
        _ => message.joined_text("").into_owned(),
    }
}

/// Returns the number of images in a message.
pub(super) fn n_images(message: &ChatMessage) -> usize {
    let is_image = |block: &&Block| matches!(block.body, BlockBody::Image(_));
    message.blocks().iter().filter(is_image).count()
}

/// Returns the text in place of an image, whose type is not recorded.
fn placeholder(with_details: bool) -> &'static str {
    if with_details { "<image: unknown type>" } else { "<image>" }
}

/// Sorts the keys of a value, as `json.dumps(value, sort_keys=True)` does.
pub(super) fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            let fields = fields.into_iter();
            Value::Object(fields.map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}
