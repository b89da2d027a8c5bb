//! `HolmesGPT`'s token count of messages (`DefaultLLM.count_tokens` over litellm's `token_counter`).
//!
//! The total is one count over all messages. The counts by role are sums of single messages, each with the priming of
//! an answer. They are stored in the messages (`token_count`), where later counts reuse them. For Anthropic models the
//! tokens of images are added only when a message is counted for the first time.

use super::image;
use super::limits::Limits;
use crate::chat::{Block, BlockBody, ChatMessage};
use crate::json::{Value, json};
use crate::systems::litellm::{PRIMING, TokenCounter, Tokenizer};
use std::sync::Arc;

/// The field of a message's own count.
const CACHE: &str = "token_count";

/// A model as configured in `HolmesGPT`.
#[derive(Clone, Debug)]
pub struct Llm {
    /// Its name.
    pub model: Arc<str>,
    /// Counts its messages, for Anthropic models without images.
    pub(super) counter: TokenCounter,
    /// Its window, reserve and cap.
    pub limits: Limits,
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
            counter: TokenCounter { tokenizer, skips_images: image::is_anthropic(model) },
            limits,
            keeps_all_counts: true,
        }
    }

    /// Makes a model with default settings that counts a quarter of the characters.
    #[cfg(test)]
    pub(super) fn with_chars_4(model: &str) -> Self {
        use super::limits::{Overrides, Reserve};
        let limits = Limits::of(model, &Overrides::default(), Reserve::Larger);
        Self::new(model, Tokenizer::CHARS_4, limits)
    }

    /// Makes a model with the count of the legacy version, which has no rule for Anthropic.
    pub fn legacy(model: &str, tokenizer: Tokenizer, limits: Limits) -> Self {
        Self { counter: TokenCounter::new(tokenizer), ..Self::new(model, tokenizer, limits) }
    }

    /// Counts a conversation with tool definitions (may be empty).
    pub fn count(&self, messages: &mut [ChatMessage], tools: &[Value]) -> Usage {
        let mut usage = Usage::default();
        let (mut text, mut images) = (0, 0);
        for message in &mut *messages {
            let own = self.counter.message(message);
            text += own;
            let single = cached(message).unwrap_or_else(|| {
                let image = self.message_images(message);
                images += image;
                let single = (own + image + PRIMING).cast_signed();
                if self.keeps_all_counts || image > 0 {
                    message.rest.insert(CACHE.to_owned(), json!(single));
                    // The stored number does not change the tokens of the text.
                    message.weigh(self.counter.rule(), |_| own);
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
        let definitions = self.counter.definitions(messages, tools);
        usage.tools_to_call = definitions.cast_signed();
        usage.total = (text + PRIMING + images + definitions).cast_signed();
        usage
    }

    /// Returns the tokens of a request with only this message.
    pub fn count_message(&self, message: &mut ChatMessage) -> i64 {
        self.count(std::slice::from_mut(message), &[]).total
    }

    /// Returns the tokens of a message's images if they are counted separately.
    pub(super) fn message_images(&self, message: &ChatMessage) -> u64 {
        if !self.counter.skips_images {
            return 0;
        }
        let images = message.blocks().iter().filter(|block| image::is_image(block));
        let tokens = |block: &Block| match &block.body {
            BlockBody::Image(image) => image::anthropic_tokens(image),
            _ => 0,
        };
        images.map(tokens).sum()
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

    #[test]
    fn a_stored_count_changes_the_breakdown_but_not_the_total() {
        let message =
            message_from_json(&json!({"role": "user", "content": "abcd", "token_count": 99}));
        let usage = Llm::with_chars_4("gpt-4o").count(&mut [message], &[]);
        assert_eq!((usage.user, usage.total), (99, 8));
    }

    #[test]
    fn images_count_for_anthropic_once_only() {
        let image = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
        let mut messages = [message_from_json(&json!({"role": "user", "content": [image]}))];
        let llm = Llm::with_chars_4("anthropic/claude");
        assert_eq!(llm.count(&mut messages, &[]).total, 793);
        assert_eq!(llm.count(&mut messages, &[]).total, 7);
    }
}
