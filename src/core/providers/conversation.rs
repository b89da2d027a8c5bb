//! A conversation independent of any API: texts, images, calls and results by role, in order. It converts between the
//! two shapes of recorded messages and the three shapes of requests.

use crate::chat::{Arguments, BlockBody, Call, ChatMessage, Content};
use crate::json::{Value, json};

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    System,
    User,
    Assistant,
}

/// A message that is not empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RoleMessage {
    pub(super) role: Role,
    pub(super) items: Vec<ConversationItem>,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConversationItem {
    /// A text that is not blank.
    Text(String),
    /// The URL of an image, often with its bytes (`data:`).
    Image(String),
    /// A tool call.
    Call { id: String, tool: String, arguments: Value },
    /// The result of a call.
    Result { call: String, items: Vec<Self>, is_error: bool },
}

impl ConversationItem {
    pub(super) fn is_result(&self) -> bool {
        matches!(self, Self::Result { .. })
    }
}

/// Joins the texts of items, with a word for each image.
pub(super) fn text_of(items: &[ConversationItem]) -> String {
    let texts: Vec<&str> = items
        .iter()
        .filter_map(|item| match item {
            ConversationItem::Text(text) => Some(&**text),
            ConversationItem::Image(_) => Some("[image]"),
            ConversationItem::Call { .. } | ConversationItem::Result { .. } => None,
        })
        .collect();
    texts.join("\n")
}

/// Converts messages and leaves empty ones out.
pub(super) fn role_messages(messages: &[ChatMessage]) -> Vec<RoleMessage> {
    let mut ids = Ids::default();
    let messages = messages.iter().map(|message| role_message(message, &mut ids));
    messages.filter(|message| !message.items.is_empty()).collect()
}

/// Assigns ids to calls and results without one, which are then matched in order.
#[derive(Default)]
struct Ids {
    n_calls: usize,
    n_results: usize,
}

impl Ids {
    fn of_call(&mut self, id: Option<&str>) -> String {
        id_or_next(id, &mut self.n_calls)
    }

    fn of_result(&mut self, id: Option<&str>) -> String {
        id_or_next(id, &mut self.n_results)
    }
}

/// Returns the id, or a new one with the next number.
fn id_or_next(id: Option<&str>, n: &mut usize) -> String {
    if let Some(id) = id.filter(|id| !id.is_empty()) {
        return id.to_owned();
    }
    *n += 1;
    format!("call_{n}")
}

fn role_message(message: &ChatMessage, ids: &mut Ids) -> RoleMessage {
    let mut items = items_of(&message.content, ids);
    let role = match &*message.role {
        "system" | "developer" => Role::System,
        "assistant" | "model" => Role::Assistant,
        _ => Role::User,
    };
    if matches!(&*message.role, "tool" | "function") {
        items = vec![ConversationItem::Result {
            call: ids.of_result(message.call_id.as_deref()),
            items,
            is_error: false,
        }];
    }
    let calls = message.calls().iter();
    items.extend(calls.filter_map(|call| item_of_call(call, ids)));
    RoleMessage { role, items }
}

fn item_of_call(call: &Call, ids: &mut Ids) -> Option<ConversationItem> {
    let function = call.function.as_ref()?;
    let arguments = match &function.arguments {
        Arguments::Text(text) => Value::String(text.to_string()),
        Arguments::Json(value) => (**value).clone(),
        Arguments::Missing => Value::Null,
    };
    Some(ConversationItem::Call {
        id: ids.of_call(call.id.as_deref()),
        tool: function.name.to_string(),
        arguments,
    })
}

fn items_of(content: &Content, ids: &mut Ids) -> Vec<ConversationItem> {
    match content {
        Content::Missing | Content::Null => Vec::new(),
        Content::Text(text) => text_item(&text.text).into_iter().collect(),
        Content::Blocks(blocks) => {
            let items = blocks.iter().filter_map(|block| item_of(&block.body, ids));
            items.collect()
        }
        Content::Other(value) => text_item(&value.to_string()).into_iter().collect(),
    }
}

/// Returns a text item unless it is blank, since servers reject blank texts.
fn text_item(text: &str) -> Option<ConversationItem> {
    (!text.trim().is_empty()).then(|| ConversationItem::Text(text.to_owned()))
}

fn item_of(block: &BlockBody, ids: &mut Ids) -> Option<ConversationItem> {
    match block {
        BlockBody::Text(text) => text_item(text),
        BlockBody::Image(image) => Some(self::image(&image.json)),
        BlockBody::ToolUse { id, name, input } => Some(ConversationItem::Call {
            id: ids.of_call(Some(id)),
            tool: name.to_string(),
            arguments: input.clone(),
        }),
        BlockBody::ToolResult { id, content, is_error } => Some(ConversationItem::Result {
            call: ids.of_result(Some(id)),
            items: items_of(content, ids),
            is_error: is_error.unwrap_or(false),
        }),
        BlockBody::Thinking(_) => None,
        BlockBody::Other(value) => other(value),
    }
}

/// Converts an image in any API's shape; a word replaces one without bytes.
fn image(block: &Value) -> ConversationItem {
    let source = &block["source"];
    let inline = source["data"].as_str().map(|bytes| {
        let media = source["media_type"].as_str().unwrap_or("image/png");
        format!("data:{media};base64,{bytes}")
    });
    let address = [&block["image_url"]["url"], &block["image_url"], &source["url"]]
        .into_iter()
        .find_map(Value::as_str);
    match inline.or_else(|| address.map(str::to_owned)) {
        Some(address) => ConversationItem::Image(address),
        None => ConversationItem::Text("[image]".to_owned()),
    }
}

/// Converts other blocks: texts in other shapes, and a word for content that cannot be sent.
fn other(value: &Value) -> Option<ConversationItem> {
    if let Some(text) = value.as_str().or_else(|| value["text"].as_str()) {
        return text_item(text);
    }
    match value["type"].as_str() {
        Some("thinking" | "redacted_thinking" | "reasoning") => None,
        Some("input_image") => Some(image(value)),
        Some("input_audio" | "audio") => Some(ConversationItem::Text("[audio]".to_owned())),
        Some("document" | "file" | "input_file") => {
            Some(ConversationItem::Text("[document]".to_owned()))
        }
        _ => text_item(&value.to_string()),
    }
}

/// Returns arguments as text, as OpenAI's APIs require.
pub(super) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns arguments as an object, as Anthropic's API requires.
pub(super) fn arguments_object(arguments: &Value) -> Value {
    let text = arguments.as_str().unwrap_or_default().trim();
    let parsed = crate::json::from_str(text).ok();
    match parsed.as_ref().unwrap_or(arguments) {
        object @ Value::Object(_) => object.clone(),
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        other => json!({ "arguments": other }),
    }
}
