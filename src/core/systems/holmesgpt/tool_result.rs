//! A tool's result before conversion to a message, and the conversion.

use super::image::is_image;
use super::tool_data::{Status, ToolData, ToolImage};
use crate::chat::{Block, ChatMessage, Content, Fields, Text};
use crate::json::{Value, json, leading_value};
use crate::languages::python::strip;
use crate::languages::python::{Layout, python_dumps, python_str};
use std::sync::Arc;

/// A tool's result.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The tool.
    pub tool_name: Arc<str>,
    /// The call.
    pub call_id: Arc<str>,
    /// Its status.
    pub status: Status,
    /// Its error.
    pub error: Option<String>,
    /// Its data.
    pub data: ToolData,
    /// The part of the session that contains the text.
    pub part: Option<u32>,
    /// Its images.
    pub images: Vec<ToolImage>,
    /// Its arguments; `Null` if unknown.
    pub params: Value,
    /// Its web page.
    pub url: Option<Arc<str>>,
}

/// Prefix of the data of a result.
const METADATA: &str = "tool_call_metadata=";
const PARAMS: &str = "Params used for the tool call: ";
const PARAMS_END: &str = ". The tool call output follows on the next line.\n";

impl ToolResult {
    /// Returns the result in a message of a conversation. Removes the text that the agent itself put before the data; a
    /// result of another agent is all data.
    pub fn of_message(message: &ChatMessage) -> Self {
        let texts: Vec<&str> = match &message.content {
            Content::Text(text) => vec![&text.text],
            Content::Blocks(blocks) => blocks.iter().filter_map(Block::as_text).collect(),
            _ => Vec::new(),
        };
        let text = texts.join("\n");
        let (params, data) = without_prefix(&text);
        Self {
            tool_name: message.name.clone().unwrap_or_default(),
            call_id: message.call_id.clone().unwrap_or_default(),
            status: Status::Success,
            error: None,
            data: ToolData::Text(data.into()),
            part: message.content.first_part(),
            images: message
                .blocks()
                .iter()
                .filter(|block| is_image(block))
                .filter_map(ToolImage::of_block)
                .collect(),
            params,
            url: None,
        }
    }

    /// Returns the message for the model (`to_llm_message`).
    pub fn to_message(&self) -> ChatMessage {
        let mut text = self.metadata();
        if self.status == Status::Error {
            text.push_str(&self.failure());
        }
        text.push_str(&self.data.text(false).0);
        self.message(self.params_text() + &text)
    }

    /// Returns the message of the legacy version: no metadata, indented JSON, a trimmed error.
    pub fn to_legacy_message(&self) -> ChatMessage {
        let text = match (&self.status, &self.data) {
            (Status::Error, ToolData::None) => strip(&self.failure()).to_owned(),
            (Status::Error, data) => {
                let printed = python_str(&data.to_json());
                strip(&format!("{}{printed}", self.failure())).to_owned()
            }
            (_, ToolData::Text(text)) => text.to_string(),
            (_, data) => {
                let layout = Layout { indent: Some(2), ..Layout::ASCII };
                python_dumps(&data.to_json(), layout)
            }
        };
        self.message(self.params_text() + &text)
    }

    fn message(&self, text: String) -> ChatMessage {
        let with_part = |text: String| Text { text: text.into(), part: self.part };
        let content = if self.images.is_empty() {
            Content::Text(with_part(text))
        } else {
            let first = Block { part: self.part, ..Block::text(text + &self.embed_hint()) };
            let images = self.images.iter().map(|image| image.block.clone());
            Content::Blocks([first].into_iter().chain(images).collect())
        };
        ChatMessage::from(Fields {
            content,
            call_id: Some(Arc::clone(&self.call_id)),
            name: Some(Arc::clone(&self.tool_name)),
            ..ChatMessage::new("tool", "").into_fields()
        })
    }

    fn metadata(&self) -> String {
        let fields = json!({"tool_name": &*self.tool_name, "tool_call_id": &*self.call_id});
        format!("{METADATA}{}", python_dumps(&fields, Layout::ASCII))
    }

    fn failure(&self) -> String {
        let error = self.error.as_deref().filter(|error| !error.is_empty());
        format!("{}:\n\n", error.unwrap_or("Tool execution failed"))
    }

    fn params_text(&self) -> String {
        let is_filled = match &self.params {
            Value::Object(fields) => !fields.is_empty(),
            _ => false,
        };
        if !is_filled {
            return String::new();
        }
        let params = python_dumps(&self.params, Layout::ASCII);
        format!("{PARAMS}{params}{PARAMS_END}")
    }

    fn embed_hint(&self) -> String {
        let link = self.url.as_deref().filter(|url| !url.is_empty());
        let link = link.map_or_else(String::new, |url| format!(" with a link to {url}"));
        format!(
            "\n\nTo embed this image in your response, use exactly this markdown syntax:\n![<descriptive \
             caption>](tool-image://{})\nThe client will render the image inline in your response{link}.",
            self.call_id
        )
    }
}

/// Returns whether a text may begin with the prefix that the agent itself puts before the data.
pub(super) fn has_prefix(text: &str) -> bool {
    text.starts_with(PARAMS) || text.starts_with(METADATA)
}

/// Returns parameters and data of a text that the agent itself wrote.
fn without_prefix(text: &str) -> (Value, &str) {
    let mut rest = text;
    let mut params = Value::Null;
    let parsed = text.strip_prefix(PARAMS).and_then(leading_value);
    if let Some((value, after)) =
        parsed.and_then(|(value, after)| Some((value, after.strip_prefix(PARAMS_END)?)))
    {
        (params, rest) = (value, after);
    }
    match rest.strip_prefix(METADATA).and_then(leading_value) {
        Some((_, data)) => (params, data),
        None => (Value::Null, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_agent_reads_back_as_the_result() {
        let result = ToolResult {
            tool_name: "f".into(),
            call_id: "c".into(),
            status: Status::Success,
            error: None,
            data: ToolData::Text("{\"a\": 1} data".into()),
            part: Some(7),
            images: Vec::new(),
            params: json!({"k": "\u{e9}"}),
            url: None,
        };
        let message = result.to_message();
        assert!(message.text().is_some_and(|text| text.contains(r#"{"k": "\u00e9"}"#)));
        assert_eq!(ToolResult::of_message(&message), result);
        let foreign = ChatMessage::new("tool", "Params used for the tool call: none");
        let data = ToolResult::of_message(&foreign).data;
        assert_eq!(data, ToolData::Text("Params used for the tool call: none".into()));
    }
}
