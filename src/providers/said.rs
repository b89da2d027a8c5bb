//! A conversation in no API's shape: what each side said, called and got back, in order.
//!
//! Messages come in two shapes and go out in three; this is what stands between.

use crate::chat::{Arguments, BlockBody, Call, ChatMessage, Content};
use serde_json::{Value, json};

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    System,
    User,
    Assistant,
}

/// What one side said in one message; never empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) who: Who,
    pub(super) items: Vec<Item>,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// A text with something in it.
    Text(String),
    /// A picture: its address, often with its bytes in it (`data:`).
    Image(String),
    /// A call of a tool.
    Call {
        id: String,
        tool: String,
        arguments: Value,
    },
    /// What came of a call.
    Result {
        call: String,
        items: Vec<Self>,
        is_error: bool,
    },
}

impl Item {
    pub(super) fn is_result(&self) -> bool {
        matches!(self, Self::Result { .. })
    }
}

/// The texts of items as one; other items leave a word.
pub(super) fn text_of(items: &[Item]) -> String {
    let texts: Vec<&str> = items
        .iter()
        .filter_map(|item| match item {
            Item::Text(text) => Some(&**text),
            Item::Image(_) => Some("[image]"),
            Item::Call { .. } | Item::Result { .. } => None,
        })
        .collect();
    texts.join("\n")
}

/// What a conversation's messages say. Messages that say nothing are left out.
pub(super) fn said(messages: &[ChatMessage]) -> Vec<Said> {
    let mut names = Names::default();
    let said = messages.iter().map(|message| said_by(message, &mut names));
    said.filter(|said| !said.items.is_empty()).collect()
}

/// Names for calls and results that have none, which then belong together in order.
#[derive(Default)]
struct Names {
    n_calls: usize,
    n_results: usize,
}

impl Names {
    fn of_call(&mut self, id: Option<&str>) -> String {
        id.filter(|id| !id.is_empty()).map_or_else(
            || {
                self.n_calls += 1;
                format!("call_{}", self.n_calls)
            },
            str::to_owned,
        )
    }

    fn of_result(&mut self, id: Option<&str>) -> String {
        id.filter(|id| !id.is_empty()).map_or_else(
            || {
                self.n_results += 1;
                format!("call_{}", self.n_results)
            },
            str::to_owned,
        )
    }
}

fn said_by(message: &ChatMessage, names: &mut Names) -> Said {
    let mut items = items_of(&message.content, names);
    let who = match &*message.role {
        "system" | "developer" => Who::System,
        "assistant" | "model" => Who::Assistant,
        _ => Who::User,
    };
    if matches!(&*message.role, "tool" | "function") {
        items = vec![Item::Result {
            call: names.of_result(message.call_id.as_deref()),
            items,
            is_error: false,
        }];
    }
    items.extend(
        message
            .calls()
            .iter()
            .filter_map(|call| item_of_call(call, names)),
    );
    Said { who, items }
}

fn item_of_call(call: &Call, names: &mut Names) -> Option<Item> {
    let function = call.function.as_ref()?;
    let arguments = match &function.arguments {
        Arguments::Text(text) => Value::String(text.to_string()),
        Arguments::Json(value) => value.clone(),
        Arguments::Missing => Value::Null,
    };
    Some(Item::Call {
        id: names.of_call(call.id.as_deref()),
        tool: function.name.to_string(),
        arguments,
    })
}

fn items_of(content: &Content, names: &mut Names) -> Vec<Item> {
    match content {
        Content::Missing | Content::Null => Vec::new(),
        Content::Text(text) => text_item(&text.text).into_iter().collect(),
        Content::Blocks(blocks) => {
            let items = blocks
                .iter()
                .filter_map(|block| item_of(&block.body, names));
            items.collect()
        }
        Content::Other(value) => text_item(&value.to_string()).into_iter().collect(),
    }
}

/// Servers refuse texts without anything in them.
fn text_item(text: &str) -> Option<Item> {
    (!text.trim().is_empty()).then(|| Item::Text(text.to_owned()))
}

fn item_of(block: &BlockBody, names: &mut Names) -> Option<Item> {
    match block {
        BlockBody::Text(text) => text_item(text),
        BlockBody::Image(image) => Some(picture(&image.json)),
        BlockBody::ToolUse { id, name, input } => Some(Item::Call {
            id: names.of_call(Some(id)),
            tool: name.to_string(),
            arguments: input.clone(),
        }),
        BlockBody::ToolResult {
            id,
            content,
            is_error,
        } => Some(Item::Result {
            call: names.of_result(Some(id)),
            items: items_of(content, names),
            is_error: is_error.unwrap_or(false),
        }),
        BlockBody::Thinking(_) => None,
        BlockBody::Other(value) => other(value),
    }
}

/// A picture in any API's shape; a word where its bytes are not there.
fn picture(block: &Value) -> Item {
    let source = &block["source"];
    let inline = source["data"].as_str().map(|bytes| {
        let media = source["media_type"].as_str().unwrap_or("image/png");
        format!("data:{media};base64,{bytes}")
    });
    let address = [
        &block["image_url"]["url"],
        &block["image_url"],
        &source["url"],
    ]
    .into_iter()
    .find_map(Value::as_str);
    match inline.or_else(|| address.map(str::to_owned)) {
        Some(address) => Item::Image(address),
        None => Item::Text("[image]".to_owned()),
    }
}

/// Blocks of other kinds: texts in other shapes, and a word for what cannot be handed on.
fn other(value: &Value) -> Option<Item> {
    if let Some(text) = value.as_str().or_else(|| value["text"].as_str()) {
        return text_item(text);
    }
    match value["type"].as_str() {
        Some("thinking" | "redacted_thinking" | "reasoning") => None,
        Some("input_image") => Some(picture(value)),
        Some("input_audio" | "audio") => Some(Item::Text("[audio]".to_owned())),
        Some("document" | "file" | "input_file") => Some(Item::Text("[document]".to_owned())),
        _ => text_item(&value.to_string()),
    }
}

/// Arguments as the text that OpenAI's APIs want.
pub(super) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Arguments as the object that Anthropic's API wants.
pub(super) fn arguments_object(arguments: &Value) -> Value {
    let text = arguments.as_str().unwrap_or_default().trim();
    let parsed = serde_json::from_str(text).ok();
    match parsed.as_ref().unwrap_or(arguments) {
        object @ Value::Object(_) => object.clone(),
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        other => json!({ "arguments": other }),
    }
}
