//! `HolmesGPT`'s token count of messages (`DefaultLLM.count_tokens` over litellm's `token_counter`).
//!
//! The total is one count over all messages. The counts by role are sums of single messages, each with the priming of
//! an answer. They are stored in the messages (`token_count`), where later counts reuse them. For Anthropic models the
//! tokens of images are added only when a message is counted for the first time.

use super::image;
use super::limits::{Limits, Overrides, Reserve};
use super::tokenizer::Tokenizer;
use super::tool_definition::format_function_definitions;
use crate::chat::{Arguments, Block, BlockBody, Call, ChatMessage, Content, Rule, python_str};
use serde_json::{Value, json};
use std::sync::Arc;

/// Tokens for each message.
const PER_MESSAGE: u64 = 3;
/// Tokens for a name.
const PER_NAME: u64 = 1;
/// Tokens for the coming answer, once a request.
const PRIMING: u64 = 3;
/// Tokens for tool definitions, once a request.
const PER_DEFINITIONS: u64 = 9;
/// Subtracted if there are both definitions and an instruction.
const DEFINITIONS_WITH_SYSTEM: u64 = 4;
/// The field of a message's own count.
const CACHE: &str = "token_count";

/// A model as configured in `HolmesGPT`.
#[derive(Clone, Debug)]
pub struct Llm {
    /// Its name.
    pub model: Arc<str>,
    /// Its tokenizer.
    pub tokenizer: Tokenizer,
    /// Its window, reserve and cap.
    pub limits: Limits,
    /// Whether images are counted by Anthropic's rule, separately from the rest.
    pub(super) weighs_images_apart: bool,
    /// Every count is kept in its message, as `HolmesGPT` does; otherwise only those that change a later count.
    pub(super) keeps_all_counts: bool,
}

/// Tokens of a conversation, by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All tokens, counted once.
    pub total: i64,
    /// Tool messages.
    pub tools: i64,
    /// Instructions.
    pub system: i64,
    /// User messages.
    pub user: i64,
    /// Tool definitions.
    pub tools_to_call: i64,
    /// Assistant messages.
    pub assistant: i64,
    /// Messages of other roles.
    pub other: i64,
}

impl Llm {
    /// Makes a model with the count of release 0.38 and later.
    pub fn new(model: &str, tokenizer: Tokenizer, limits: Limits) -> Self {
        Self {
            model: model.into(),
            tokenizer,
            limits,
            weighs_images_apart: image::is_anthropic(model),
            keeps_all_counts: true,
        }
    }

    /// Makes a model with the count of the legacy version, which has no rule for Anthropic.
    pub fn legacy(model: &str, tokenizer: Tokenizer, limits: Limits) -> Self {
        Self {
            weighs_images_apart: false,
            ..Self::new(model, tokenizer, limits)
        }
    }

    /// Makes a model with litellm's own count. `cl100k_base` replaces a vocabulary that is not included.
    pub(in crate::systems) fn litellm(model: &str) -> Self {
        let of_model = Tokenizer::of_model(model).ok();
        let tokenizer = of_model.or_else(|| Tokenizer::named("cl100k_base"));
        let limits = Limits::of(model, &Overrides::default(), Reserve::Larger);
        Self::legacy(model, tokenizer.unwrap_or(Tokenizer::CHARS_4), limits)
    }

    /// Counts a conversation with tool definitions (may be empty).
    pub fn count(&self, messages: &mut [ChatMessage], tools: &[Value]) -> Usage {
        let mut usage = Usage::default();
        let (mut text, mut images) = (0, 0);
        for message in &mut *messages {
            let own = self.message_text(message);
            text += own;
            let single = cached(message).unwrap_or_else(|| {
                let image = self.message_images(message);
                images += image;
                let single = (own + image + PRIMING).cast_signed();
                if self.keeps_all_counts || image > 0 {
                    message.rest.insert(CACHE.to_owned(), json!(single));
                    // The stored number does not change the tokens of the text.
                    message.weigh(self.rule(), |_| own);
                }
                single
            });
            *match &*message.role {
                "system" => &mut usage.system,
                "user" => &mut usage.user,
                "tool" => &mut usage.tools,
                "assistant" => &mut usage.assistant,
                _ => &mut usage.other,
            } += single;
        }
        let definitions = self.definitions(messages, tools);
        usage.tools_to_call = definitions.cast_signed();
        usage.total = (text + PRIMING + images + definitions).cast_signed();
        usage
    }

    /// Returns the tokens of a request with only this message.
    pub fn count_message(&self, message: &mut ChatMessage) -> i64 {
        self.count(std::slice::from_mut(message), &[]).total
    }

    /// Returns the tokens that tool definitions add to a request.
    pub(in crate::systems) fn definitions(&self, messages: &[ChatMessage], tools: &[Value]) -> u64 {
        if tools.is_empty() {
            return 0;
        }
        let text = self.tokenizer.count(&format_function_definitions(tools)) + PER_DEFINITIONS;
        let has_system = messages.iter().any(|m| m.is("system"));
        text - if has_system {
            DEFINITIONS_WITH_SYSTEM
        } else {
            0
        }
    }

    /// Returns a message's tokens without priming, and without images if they are counted separately.
    pub(in crate::systems) fn message_text(&self, message: &ChatMessage) -> u64 {
        message.weigh(self.rule(), |message| self.count_text(message))
    }

    /// Returns the rule of a message's text count: its inputs besides the message.
    fn rule(&self) -> Rule {
        let name = if self.weighs_images_apart {
            "holmesgpt: without images"
        } else {
            "holmesgpt: with images"
        };
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
            + message
                .calls()
                .iter()
                .map(|call| count(&arguments(call)))
                .sum::<u64>()
            + of(&message.call_id)
            + of(&message.name)
            + if message.name.is_some() { PER_NAME } else { 0 }
            + reasoning
            + texts.sum::<u64>()
    }

    /// Returns the tokens of a message's images if they are counted separately.
    pub(super) fn message_images(&self, message: &ChatMessage) -> u64 {
        if !self.weighs_images_apart {
            return 0;
        }
        let images = message
            .blocks()
            .iter()
            .filter(|block| image::is_image(block));
        let tokens = |block: &Block| match &block.body {
            BlockBody::Image(image) => image::anthropic_tokens(image),
            _ => 0,
        };
        images.map(tokens).sum()
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
            BlockBody::Image(_) if self.weighs_images_apart => 0,
            BlockBody::Image(image) => image::openai_tokens(image),
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
            Some("text") => value
                .get("text")
                .map_or(0, |text| self.tokenizer.count(&python_str(text))),
            Some("tool_use") => ["name", "input", "caller"]
                .iter()
                .map(|field| self.value(&value[field]))
                .sum(),
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

fn cached(message: &ChatMessage) -> Option<i64> {
    message.rest.get(CACHE)?.as_i64()
}

/// Returns a message without its stored count, after a change of its content.
pub(super) fn uncounted(message: &ChatMessage) -> ChatMessage {
    let mut message = message.clone();
    if message.rest.contains_key(CACHE) {
        message.rest.shift_remove(CACHE);
    }
    message
}

/// Removes the stored counts, as before every request.
pub fn forget_counts(messages: &mut [ChatMessage]) {
    for message in messages {
        if message.rest.contains_key(CACHE) {
            message.rest.shift_remove(CACHE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::systems::holmesgpt::{Overrides, Reserve};

    fn llm(model: &str) -> Llm {
        let limits = Limits::of(model, &Overrides::default(), Reserve::Larger);
        Llm::new(model, Tokenizer::CHARS_4, limits)
    }

    #[test]
    fn a_stored_count_changes_the_breakdown_but_not_the_total() {
        let message =
            message_from_json(&json!({"role": "user", "content": "abcd", "token_count": 99}));
        let usage = llm("gpt-4o").count(&mut [message], &[]);
        assert_eq!((usage.user, usage.total), (99, 8));
    }

    #[test]
    fn images_count_for_anthropic_once_only() {
        let image = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
        let mut messages = [message_from_json(
            &json!({"role": "user", "content": [image]}),
        )];
        let llm = llm("anthropic/claude");
        assert_eq!(llm.count(&mut messages, &[]).total, 793);
        assert_eq!(llm.count(&mut messages, &[]).total, 7);
    }
}
