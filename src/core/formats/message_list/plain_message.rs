//! Messages in a format-independent form, and a request document that holds such messages.

use crate::formats::content::Media;
use crate::formats::json;
use crate::json::{Map, Value};
use crate::session::Role;
use crate::units::Millis;
use std::fmt::Write as _;

/// A message in a format-independent form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlainMessage {
    /// Role of the sender.
    pub(crate) role: Role,
    /// Recorded time, if the session has the message.
    pub(crate) time: Option<Millis>,
    /// Content blocks.
    pub(crate) blocks: Vec<PlainBlock>,
}

/// A content block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlainBlock {
    /// Text that is not only white space.
    Text(String),
    /// A thought with its signature, as Anthropic writes it. Thoughts of other providers cannot be resent.
    Thinking(Value),
    /// A block that only Anthropic supports.
    Native(Value),
    /// A tool definition in any provider's form.
    Tool(Value),
    /// A tool call.
    Call {
        /// Unique id.
        call: String,
        /// Tool name.
        tool: String,
        /// Arguments as the model wrote them.
        arguments: String,
    },
    /// The result of a tool call.
    Result {
        /// Id of the call.
        call: String,
        /// Whether the tool failed.
        is_error: bool,
        /// Text, possibly empty.
        text: String,
        /// Images and other media.
        media: Vec<Self>,
    },
    /// An image, audio or document.
    Media(Media),
}

/// Returns a text block, or `None` if the text is only white space.
pub(super) fn text_block(text: &str) -> Option<PlainBlock> {
    (!text.trim().is_empty()).then(|| PlainBlock::Text(text.to_owned()))
}

/// Serializes a request document: its members in order, then the messages, one per line.
pub(crate) fn document(members: &[(&str, Value)], messages: Lines) -> Vec<u8> {
    let members = members.iter().map(|(key, value)| format!("  \"{key}\": {value},\n"));
    let head = format!("{{\n{}  \"messages\": [\n", members.collect::<String>());
    let mut text = messages.0;
    text.insert_str(0, &head);
    text.push_str("\n  ]\n}\n");
    text.into_bytes()
}

/// Serialized messages of a document, one per line. Kept as text because values need several times the memory.
#[derive(Default)]
pub(crate) struct Lines(String);

impl Lines {
    /// Adds a message.
    pub(crate) fn push(&mut self, message: &Value) {
        let gap = if self.0.is_empty() { "" } else { ",\n" };
        let _ = write!(self.0, "{gap}    {message}");
    }
}

impl Media {
    /// Returns the text that replaces media that a format does not support.
    pub(crate) fn placeholder(&self) -> String {
        format!("[{}: cannot be written in this format]", self.kind.name())
    }
}

/// Returns the name, description and schema of a tool definition in any provider's form.
pub(crate) fn definition(tool: &Value) -> (String, Option<Value>, Value) {
    let inner = ["function", "custom"]
        .iter()
        .find_map(|key| tool.get(key).filter(|v| v.is_object()))
        .unwrap_or(tool);
    let name = json::str_at(inner, &["name"])
        .or_else(|| json::str_at(tool, &["type"]))
        .unwrap_or_default();
    let schema =
        ["input_schema", "parameters", "inputSchema"].iter().find_map(|key| inner.get(key));
    let schema = schema.filter(|s| s.is_object()).cloned();
    let empty = || Value::Object(Map::from_iter([("type".to_owned(), Value::from("object"))]));
    (name.to_owned(), inner.get("description").cloned(), schema.unwrap_or_else(empty))
}
