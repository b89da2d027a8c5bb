//! Token counts of messages and tool definitions, as litellm's `token_counter` has them.

use super::image;
use super::tokenizer::Tokenizer;
use super::tool_definition::format_function_definitions;
use crate::chat::{Arguments, Block, BlockBody, Call, ChatMessage, Content, Rule};
use crate::json::Value;
use crate::languages::python::python_str;
use std::sync::Arc;

/// Tokens for each message.
// The numbers of this file are those of litellm 1.89.0, `litellm_core_utils/token_counter.py`.
const PER_MESSAGE: u64 = 3;
/// Tokens for a name.
const PER_NAME: u64 = 1;
/// Tokens for the coming answer, once a request.
pub(crate) const PRIMING: u64 = 3;
/// Tokens for tool definitions, once a request.
const PER_DEFINITIONS: u64 = 9;
/// Subtracted if there are both definitions and an instruction.
const DEFINITIONS_WITH_SYSTEM: u64 = 4;

/// Counts messages with one tokenizer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenCounter {
    /// Counts the texts.
    pub(crate) tokenizer: Tokenizer,
    /// Images count as nothing, because the caller counts them separately.
    pub(crate) skips_images: bool,
}

impl TokenCounter {
    /// Makes a counter that counts images.
    pub(crate) fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, skips_images: false }
    }

    /// Makes the counter of a model. `cl100k_base` replaces a vocabulary that is not included.
    pub(crate) fn of_model(model: &str) -> Self {
        let of_model = Tokenizer::of_model(model).ok();
        let tokenizer = of_model.or_else(|| Tokenizer::named("cl100k_base"));
        Self::new(tokenizer.unwrap_or(Tokenizer::CHARS_4))
    }

    /// Returns the tokens that tool definitions add to a request.
    pub(crate) fn definitions(&self, messages: &[ChatMessage], tools: &[Value]) -> u64 {
        if tools.is_empty() {
            return 0;
        }
        let text = self.tokenizer.count(&format_function_definitions(tools)) + PER_DEFINITIONS;
        let has_system = messages.iter().any(|m| m.is("system"));
        text - if has_system { DEFINITIONS_WITH_SYSTEM } else { 0 }
    }

    /// Returns a message's tokens without the priming.
    pub(crate) fn message(&self, message: &ChatMessage) -> u64 {
        message.weigh(self.rule(), |message| self.count_text(message))
    }

    /// Returns the rule of a message's count: its inputs besides the message.
    pub(crate) fn rule(&self) -> Rule {
        let name =
            if self.skips_images { "litellm: without images" } else { "litellm: with images" };
        let by = self.tokenizer.id();
        Rule { name, by }
    }

    fn count_text(&self, message: &ChatMessage) -> u64 {
        let count = |text: &str| self.tokenizer.count(text);
        let of = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| count(text));
        let texts = message.rest.iter().filter_map(|(key, value)| {
            let per_name = if key == "name" { PER_NAME } else { 0 };
            value.as_str().map(|text| count(text) + per_name)
        });
        let reasoning = message.reasoning.as_ref().map_or(0, |r| count(&r.text));
        PER_MESSAGE
            + count(&message.role)
            + self.content(&message.content)
            + message.calls().iter().map(|call| count(&arguments(call))).sum::<u64>()
            + of(&message.call_id)
            + of(&message.name)
            + if message.name.is_some() { PER_NAME } else { 0 }
            + reasoning
            + texts.sum::<u64>()
    }

    fn content(&self, content: &Content) -> u64 {
        match content {
            Content::Text(text) => self.tokenizer.count(&text.text),
            Content::Blocks(blocks) => blocks.iter().map(|block| self.block(block)).sum(),
            Content::Missing | Content::Null | Content::Other(_) => 0,
        }
    }

    fn block(&self, block: &Block) -> u64 {
        let count = |text: &str| self.tokenizer.count(text);
        match &block.body {
            BlockBody::Text(text) => count(text),
            BlockBody::Image(_) if self.skips_images => 0,
            BlockBody::Image(image) => image::tokens(image),
            BlockBody::ToolUse { name, input, .. } => count(name) + self.value(input),
            BlockBody::ToolResult { content, .. } => self.content(content),
            BlockBody::Thinking(value) => count(value["thinking"].as_str().unwrap_or_default()),
            BlockBody::Other(value) => self.other(value),
        }
    }

    /// Counts a block with unusual fields.
    fn other(&self, value: &Value) -> u64 {
        match value["type"].as_str() {
            None => self.tokenizer.count(value.as_str().unwrap_or_default()),
            Some("text") => {
                value.get("text").map_or(0, |text| self.tokenizer.count(&python_str(text)))
            }
            Some("tool_use") => {
                ["name", "input", "caller"].iter().map(|field| self.value(&value[field])).sum()
            }
            Some("tool_result") => self.value(&value["content"]),
            Some(_) => 0,
        }
    }

    /// Counts a field of such a block: a text, a list of blocks, or an object as Python prints it.
    fn value(&self, value: &Value) -> u64 {
        match value {
            Value::String(text) => self.tokenizer.count(text),
            Value::Array(items) => items.iter().map(|item| self.other(item)).sum(),
            Value::Object(_) => self.tokenizer.count(&python_str(value)),
            _ => 0,
        }
    }
}

/// Returns the counted text of a call: its arguments, but neither its name nor its id.
fn arguments(call: &Call) -> String {
    match call.function.as_ref().map(|f| &f.arguments) {
        Some(Arguments::Text(text)) => text.to_string(),
        Some(Arguments::Json(value)) => python_str(value),
        Some(Arguments::Missing) => "[]".to_owned(),
        // A function without a name is stored among the other fields.
        None => match call.rest.get("function").map(|f| f.get("arguments")) {
            Some(Some(value)) => python_str(value),
            Some(None) => "[]".to_owned(),
            None => String::new(),
        },
    }
}
